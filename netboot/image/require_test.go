package image

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What each combination of artefacts boots by (seed 000, Types).
func TestRequireTable(t *testing.T) {
	methods := []string{string(protocol.TargetNone), string(protocol.TargetHdd), string(protocol.TargetUefiHTTP), string(protocol.TargetPxe), string(protocol.TargetCd), "Usb"}
	yn := doctable.YesNo()
	doctable.Of(t, "require.go", "requireRule").HoldOne(t, [][]string{methods, yn, yn, yn, yn}, func(in []string) string {
		is := func(i int) bool { return in[i] == "yes" }
		return string(requireRule(protocol.BootTarget(in[0]), is(1), is(2), is(3), is(4)))
	})
}

func TestRequire(t *testing.T) {
	has := func(kinds ...resource.ArtefactKind) (img resource.Image) {
		for _, k := range kinds {
			img.Artefacts = append(img.Artefacts, resource.Artefact{Kind: k})
		}
		return img
	}
	for _, row := range []struct {
		img    resource.Image
		method protocol.BootTarget
		want   string // "" is nil
	}{
		{has(resource.ArtefactUKI), protocol.TargetUefiHTTP, ""},
		{has(resource.ArtefactUKI), protocol.TargetPxe, ""},
		{has(resource.ArtefactKernel, resource.ArtefactInitramfs), protocol.TargetUefiHTTP, ""},
		{has(resource.ArtefactKernel, resource.ArtefactInitramfs), protocol.TargetPxe, ""}, // seed 000, Types
		{has(resource.ArtefactKernel), protocol.TargetPxe, "it has kernel, and neither uki nor kernel with initramfs"},
		{has(resource.ArtefactInitramfs, resource.ArtefactSquashfs), protocol.TargetPxe, "it has initramfs, squashfs, and neither"},
		{has(), protocol.TargetUefiHTTP, "it has nothing, and neither"},
		{has(resource.ArtefactUKI), protocol.TargetHdd, "no image is booted"},
		{has(resource.ArtefactUKI), "Usb", "no image is booted"},
		{has(resource.ArtefactISO), protocol.TargetCd, ""},
		{has(resource.ArtefactUKI), protocol.TargetCd, "cannot be booted by VirtualMedia: it has uki, and no iso"},
		{has(resource.ArtefactISO), protocol.TargetUefiHTTP, "it has iso, and neither uki nor kernel with initramfs"},
		{has(resource.ArtefactISO), protocol.TargetPxe, "it has iso, and neither"},
		{has(resource.ArtefactISO, resource.ArtefactUKI), protocol.TargetCd, ""},
	} {
		err := Require(row.img, row.method)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v by %s: %v", row.img.Artefacts, row.method, err)
		}
	}
}
