package files

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The artefacts of an image of the hub come one after the other, after one wait; what came
// before a break stays, and is gone on with.
func TestImageFromHub(t *testing.T) {
	kernel, initramfs := bytes.Repeat([]byte("k"), 1000), bytes.Repeat([]byte("i"), 2000)
	k, i := isoOf(kernel), isoOf(initramfs)
	img := resource.Image{Reference: "bootimage/os-1", Source: resource.ImageFromHub, Artefacts: []resource.Artefact{
		{Kind: resource.ArtefactKernel, Digest: k.Digest, Size: k.Size}, {Kind: resource.ArtefactInitramfs, Digest: i.Digest, Size: i.Size},
	}}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hub := &isoHub{files: map[string][]byte{k.Digest: kernel, i.Digest: initramfs}}
		broken := true
		hub.give = func(_ int64, rest []byte) (io.Reader, error) {
			if broken && len(rest) == 2000 {
				broken = false
				return io.MultiReader(bytes.NewReader(rest[:700]), iotest.ErrReader(errors.New("reset"))), nil
			}
			return bytes.NewReader(rest), nil
		}
		p := isoBench(t, dir, hub, 1<<20, ISOLimits{Spread: time.Minute}, nil)
		begun := time.Now()
		if err := p.image(t.Context(), img); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("broken off: %v", err)
		}
		p.Keep(func(d string) bool { return d == i.Digest }) // a document names it
		if err := p.image(t.Context(), img); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited > 2*time.Minute {
			t.Errorf("waited %s for two tries", waited)
		}
		for digest, want := range map[string][]byte{k.Digest: kernel, i.Digest: initramfs} {
			f, _, err := p.cfg.Blobs.Open(digest)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", digest, len(got), err)
			}
			_ = f.Close() // it was read
		}
		asked := len(hub.asked)
		if asked != 3 {
			t.Errorf("asked %d times: %v", asked, hub.asked)
		}
		if err := p.image(t.Context(), img); err != nil || len(hub.asked) != asked {
			t.Errorf("what is there is fetched again: %v", err)
		}
	})
}
