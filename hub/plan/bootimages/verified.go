package bootimages

import (
	"strings"

	"rackboot/protocol/resource"
)

// Why no signature of a file was verified.
const (
	// unsignedOCI: go-containerregistry compares the manifest and each layer with their
	// digests, and knows of no signature.
	unsignedOCI = "an OCI image is compared with its digest, and no signature of it is named"
	// unsignedEntry: stream metadata may lack the URL of a signature.
	unsignedEntry = "the entry names no signature"
	// unsignedUnknown: the entry names one, and what was proved of it is not known.
	unsignedUnknown = "what was proved of it is not known"
)

// verified is, by architecture, how each file of the images was verified: by what the
// entry names, and what the hub proved of it. With a nil entry the image is the owner's
// own.
func verified(entry *resource.BootImage, images map[string]resource.Image) map[string][]resource.VerifiedFile {
	out := map[string][]resource.VerifiedFile{}
	for arch, img := range images {
		var files []resource.BootImageFile
		if entry != nil {
			files = entry.Spec.Architectures[arch].Files
		}
		if len(files) == 0 {
			out[arch] = []resource.VerifiedFile{verifiedImage(entry, arch, img.Digest)}
			continue
		}
		for _, f := range files {
			out[arch] = append(out[arch], verifiedFile(entry, f))
		}
	}
	return out
}

// verifiedImage is how an OCI image was verified. What was signed is what the entry names,
// which may be an index; digest is of the manifest that is booted.
func verifiedImage(entry *resource.BootImage, arch, digest string) resource.VerifiedFile {
	out := resource.VerifiedFile{SHA256: digest, Unsigned: unsignedOCI}
	if entry == nil || entry.Spec.Architectures[arch].Signature == nil {
		return out
	}
	_, named := resource.SplitImage(entry.Spec.Architectures[arch].Image)
	v, proved := entry.Status.Verified[named]
	if verifiedRule(proved, true, v.Signature != nil) == fileSigned {
		return resource.VerifiedFile{SHA256: digest, Scheme: v.Signature.Scheme, Key: v.Signature.Key, Keyring: v.Signature.Keyring}
	}
	out.Unsigned = unsignedUnknown
	return out
}

func verifiedFile(entry *resource.BootImage, f resource.BootImageFile) resource.VerifiedFile {
	out := resource.VerifiedFile{Kind: f.Kind, SHA256: "sha256:" + f.SHA256}
	v, proved := entry.Status.Verified[out.SHA256]
	switch verifiedRule(proved, f.Signature != nil, v.Signature != nil) {
	case fileSigned:
		out.Scheme, out.Key, out.Keyring = v.Signature.Scheme, v.Signature.Key, v.Signature.Keyring
	case fileUnsigned:
		out.Unsigned = unsignedEntry
	case fileUnknown:
		out.Unsigned = unsignedUnknown
	}
	return out
}

// proof is what is known of a file's signature.
type proof string

const (
	fileSigned   proof = "signed"
	fileUnsigned proof = "unsigned"
	fileUnknown  proof = "unknown"
)

// verifiedRule judges one file. The first row that fits decides.
//
//	proved | named | verified | proof
//	no     | *     | *        | unknown
//	yes    | *     | yes      | signed
//	yes    | no    | no       | unsigned
//	yes    | yes   | no       | unknown
//
// proved is that the status of the entry has the file, named that the entry names a
// signature, and verified that one was.
func verifiedRule(proved, named, verified bool) proof {
	switch {
	case !proved:
		return fileUnknown
	case verified:
		return fileSigned
	case !named:
		return fileUnsigned
	}
	return fileUnknown
}

// verifiedWords is how an image was verified, in a line.
func verifiedWords(files []resource.VerifiedFile) string {
	var parts []string
	for _, f := range files {
		how := string(f.Scheme) + " " + f.Key
		if f.Unsigned != "" {
			how = "unsigned: " + f.Unsigned
		}
		if f.Kind != "" {
			how = string(f.Kind) + " " + how
		}
		parts = append(parts, how)
	}
	return strings.Join(parts, "; ")
}
