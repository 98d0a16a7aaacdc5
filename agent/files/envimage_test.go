package files

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
	"testing/fstest"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

func TestImageFiles(t *testing.T) {
	blobs, err := blob.Open(blob.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	var image resource.Image
	for kind, content := range map[resource.ArtefactKind]string{resource.ArtefactKernel: "the kernel", resource.ArtefactInitramfs: "the initramfs", "of no kind that is known": "x"} {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
		if err := blobs.Write(t.Context(), digest, int64(len(content)), bytes.NewReader([]byte(content))); err != nil {
			t.Fatal(err)
		}
		image.Artefacts = append(image.Artefacts, resource.Artefact{Kind: kind, Digest: digest, Size: int64(len(content))})
	}
	if err := fstest.TestFS(newImageFiles(blobs, image), "kernel", "initrd"); err != nil {
		t.Error(err)
	}
	empty := newImageFiles(blobs, resource.Image{Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:" + fmt.Sprintf("%064d", 0)}}})
	if _, err := empty.Open("boot.efi"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a blob that is gone: %v", err)
	}
}
