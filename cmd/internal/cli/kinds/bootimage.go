package kinds

import (
	"fmt"
	"maps"
	"slices"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// imageSignatureFact says what was proved of an OCI image whose signature is wanted. What
// the signer calls it is the signer's word.
func imageSignatureFact(b *resource.BootImage, arch string, a resource.BootImageArch) printer.Fact {
	text := "not verified; wanted is " + string(a.Signature.Scheme) + " by " + a.Signature.Key
	if a.Signature.Key == "" {
		text = "not verified; wanted is " + string(a.Signature.Scheme) + " by a key of the hub's file"
	}
	if v := table.ImageProof(b, a); v != nil {
		text = fmt.Sprintf("verified %s, signed by %s (%s), who calls it %s", printer.Stamp(&v.At), v.Signature.Key, v.Signature.Scheme, printer.Dash(v.Signature.Claimed))
	}
	return printer.Fact{"Signature " + arch, text}
}

// bootImageFacts say what was proved of each file, and who signed it.
func bootImageFacts(b *resource.BootImage) (out []printer.Fact) {
	for _, arch := range slices.Sorted(maps.Keys(b.Spec.Architectures)) {
		a := b.Spec.Architectures[arch]
		if a.Image != "" {
			out = append(out, printer.Fact{"Image " + arch, a.Image})
		}
		if a.Signature != nil {
			out = append(out, imageSignatureFact(b, arch, a))
		}
		for _, f := range a.Files {
			text := "not verified"
			if v, ok := b.Status.Verified["sha256:"+f.SHA256]; ok {
				text = fmt.Sprintf("%s, verified %s, %s", printer.Mebibytes(v.Size), printer.Stamp(&v.At), "not signed")
				if s := v.Signature; s != nil {
					text = fmt.Sprintf("%s, verified %s, signed by %s (%s)", printer.Mebibytes(v.Size), printer.Stamp(&v.At), s.Key, printer.Dash(s.By))
				}
			}
			out = append(out, printer.Fact{fmt.Sprintf("File %s %s", arch, f.Kind), text})
		}
	}
	return out
}
