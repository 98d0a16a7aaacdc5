package agent

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
	"testing/fstest"

	"rackboot/protocol"
	"rackboot/state/blob"
)

func TestImageFiles(t *testing.T) {
	blobs, err := blob.Open(blob.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	var image protocol.Image
	for kind, content := range map[protocol.ArtefactKind]string{protocol.ArtefactKernel: "the kernel", protocol.ArtefactInitramfs: "the initramfs", "of no kind that is known": "x"} {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
		if err := blobs.Write(t.Context(), digest, int64(len(content)), bytes.NewReader([]byte(content))); err != nil {
			t.Fatal(err)
		}
		image.Artefacts = append(image.Artefacts, protocol.Artefact{Kind: kind, Digest: digest, Size: int64(len(content))})
	}
	if err := fstest.TestFS(newImageFiles(blobs, image), "kernel", "initrd"); err != nil {
		t.Error(err)
	}
	empty := newImageFiles(blobs, protocol.Image{Artefacts: []protocol.Artefact{{Kind: protocol.ArtefactUKI, Digest: "sha256:" + fmt.Sprintf("%064d", 0)}}})
	if _, err := empty.Open("boot.efi"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a blob that is gone: %v", err)
	}
}
