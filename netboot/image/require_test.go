package image

import (
	"strings"
	"testing"

	"rackboot/doctable"
	"rackboot/protocol"
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
	has := func(kinds ...protocol.ArtefactKind) (img protocol.Image) {
		for _, k := range kinds {
			img.Artefacts = append(img.Artefacts, protocol.Artefact{Kind: k})
		}
		return img
	}
	for _, row := range []struct {
		img    protocol.Image
		method protocol.BootTarget
		want   string // "" is nil
	}{
		{has(protocol.ArtefactUKI), protocol.TargetUefiHTTP, ""},
		{has(protocol.ArtefactUKI), protocol.TargetPxe, ""},
		{has(protocol.ArtefactKernel, protocol.ArtefactInitramfs), protocol.TargetUefiHTTP, ""},
		{has(protocol.ArtefactKernel, protocol.ArtefactInitramfs), protocol.TargetPxe, ""}, // seed 000, Types
		{has(protocol.ArtefactKernel), protocol.TargetPxe, "it has kernel, and neither uki nor kernel with initramfs"},
		{has(protocol.ArtefactInitramfs, protocol.ArtefactSquashfs), protocol.TargetPxe, "it has initramfs, squashfs, and neither"},
		{has(), protocol.TargetUefiHTTP, "it has nothing, and neither"},
		{has(protocol.ArtefactUKI), protocol.TargetHdd, "no image is booted"},
		{has(protocol.ArtefactUKI), "Usb", "no image is booted"},
		{has(protocol.ArtefactISO), protocol.TargetCd, ""},
		{has(protocol.ArtefactUKI), protocol.TargetCd, "cannot be booted by VirtualMedia: it has uki, and no iso"},
		{has(protocol.ArtefactISO), protocol.TargetUefiHTTP, "it has iso, and neither uki nor kernel with initramfs"},
		{has(protocol.ArtefactISO), protocol.TargetPxe, "it has iso, and neither"},
		{has(protocol.ArtefactISO, protocol.ArtefactUKI), protocol.TargetCd, ""},
	} {
		err := Require(row.img, row.method)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v by %s: %v", row.img.Artefacts, row.method, err)
		}
	}
}
