package plan

import (
	"slices"
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestLineTable(t *testing.T) {
	doctable.Of(t, "arguments.go", "lineRule").Hold(t, [][]string{doctable.YesNo(), doctable.Words(LinesKernel, LinesUKI, LinesBoth)},
		func(in []string) []string { return doctable.Words(lineRule(in[0] == "yes", Lines(in[1]))) })
}

// TestWithArguments: image, then server, then claim or maintenance (facts on boot policy,
// row 26), and never beside a UKI that would not heed them.
func TestWithArguments(t *testing.T) {
	image := func(line string, kinds ...resource.ArtefactKind) resource.Image {
		img := resource.Image{CommandLine: line}
		for _, k := range kinds {
			img.Artefacts = append(img.Artefacts, resource.Artefact{Kind: k})
		}
		return img
	}
	const uki, kernel, initramfs = resource.ArtefactUKI, resource.ArtefactKernel, resource.ArtefactInitramfs
	for _, row := range []struct {
		name, server, owner, line string
		img                       resource.Image
		want, err                 string
	}{
		{"all three in order", "b", "c d", "a", image("a", kernel, initramfs), "a b c d", ""},
		{"no line in the image", "", "c", "", image("", kernel, initramfs), "c", ""},
		{"nothing to add", "", "", "a", image("a", kernel, initramfs), "a", ""},
		{"nothing to add to a UKI", "", "", "", image("", uki), "", ""},
		{"both", "b", "", "a", image("a", uki, kernel, initramfs), "a b", ""},
		{"a UKI, the claim's", "", "c", "", image("", uki), "", "kernelArgs: the image has nothing but a UKI"},
		{"a UKI, the server's", "b", "", "", image("", uki), "", "the server's spec.kernelArgs"},
		{"a UKI and half of the other", "", "c", "", image("", uki, kernel), "", "nothing but a UKI"},
		{"too long together", strings.Repeat("b", 800), strings.Repeat("c", 800), "", image("", kernel, initramfs), "", "may have 1536"},
	} {
		before := slices.Clone(row.img.Artefacts)
		got, err := WithArguments(row.img, row.server, row.owner)
		if !slices.Equal(before, row.img.Artefacts) {
			t.Errorf("%s: the image that was given was changed", row.name)
		}
		if row.err != "" {
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.err) || protocol.HintOf(err) == "" {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		_, has := got.Artefact(uki)
		_, had := row.img.Artefact(uki)
		if err != nil || got.CommandLine != row.want || has != (had && row.server+row.owner == "") {
			t.Errorf("%s: %q, UKI %t, %v", row.name, got.CommandLine, has, err)
		}
	}
}

// Arguments that change later change nothing by themselves (facts on boot policy, row 16).
func TestArgumentsOfALiveClaim(t *testing.T) {
	srv := &resource.Server{Spec: resource.ServerSpec{KernelArgs: "a"}}
	claim := &resource.Claim{Spec: resource.ClaimSpec{KernelArgs: "b"}}
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{KernelArgs: "a b"}}
	says := func() string {
		var out []string
		for _, c := range Claimed(claim, srv, cfg, nil, true) {
			out = append(out, string(c.Code)+" "+c.Message)
		}
		return strings.Join(out, "\n")
	}
	if got := says(); got != "" {
		t.Errorf("unchanged: %s", got)
	}
	claim.Spec.KernelArgs = "c"
	if got := says(); !strings.HasPrefix(got, string(resource.CondReprovisionRequired)) || !strings.Contains(got, `"a b"`) {
		t.Errorf("the claim's: %s", got)
	}
	claim.Spec.KernelArgs, srv.Spec.KernelArgs = "b", ""
	if got := says(); !strings.HasPrefix(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("the server's: %s", got)
	}
}
