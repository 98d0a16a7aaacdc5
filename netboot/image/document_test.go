package image

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/protocol"
)

// Files that are here are judged as those in a registry; CoreOS's root file system is a
// cpio archive.
func TestInspectFile(t *testing.T) {
	for _, row := range []struct {
		kind    protocol.ArtefactKind
		content string
		says    string
	}{
		{protocol.ArtefactInitramfs, "070701", ""},
		{protocol.ArtefactSquashfs, "hsqs", ""},
		{protocol.ArtefactSquashfs, "070701", ""},
		{protocol.ArtefactSquashfs, "QFI\xfb", "is no squashfs"},
		{protocol.ArtefactKernel, "070701", "is no kernel"},
		{protocol.ArtefactUKI, "MZ", "cannot be booted"},
		{protocol.ArtefactInitramfs, "", "nothing at all"},
		{protocol.ArtefactISO, strings.Repeat("x", 40<<10), "cannot be booted"},
	} {
		a := protocol.Artefact{Kind: row.kind, Digest: "sha256:1", Size: int64(len(row.content))}
		err := InspectFile(a, bytes.NewReader([]byte(row.content)), "amd64")
		if row.says == "" && err != nil || row.says != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.says) || protocol.HintOf(err) == "") {
			t.Errorf("%s %.10q: %v", row.kind, row.content, err)
		}
	}
}
