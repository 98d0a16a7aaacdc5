package image

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Files that are here are judged as those in a registry; CoreOS's root file system is a
// cpio archive.
func TestInspectFile(t *testing.T) {
	for _, row := range []struct {
		kind    resource.ArtefactKind
		content string
		says    string
	}{
		{resource.ArtefactInitramfs, "070701", ""},
		{resource.ArtefactSquashfs, "hsqs", ""},
		{resource.ArtefactSquashfs, "070701", ""},
		{resource.ArtefactSquashfs, "QFI\xfb", "is no squashfs"},
		{resource.ArtefactKernel, "070701", "is no kernel"},
		{resource.ArtefactUKI, "MZ", "cannot be booted"},
		{resource.ArtefactInitramfs, "", "nothing at all"},
		{resource.ArtefactISO, strings.Repeat("x", 40<<10), "cannot be booted"},
	} {
		a := resource.Artefact{Kind: row.kind, Digest: "sha256:1", Size: int64(len(row.content))}
		err := InspectFile(a, bytes.NewReader([]byte(row.content)), "amd64")
		if row.says == "" && err != nil || row.says != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.says) || protocol.HintOf(err) == "") {
			t.Errorf("%s %.10q: %v", row.kind, row.content, err)
		}
	}
}
