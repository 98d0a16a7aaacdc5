package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// blobRegistry has images of one file, until it is gone.
type blobRegistry struct {
	blobs *blob.Store
	files map[string][]byte
	gone  bool
}

func (r *blobRegistry) Pull(ctx context.Context, img resource.Image) error {
	if r.gone {
		return protocol.Errorf(protocol.CodeUnavailable, "pull", "the registry does not answer")
	}
	for _, a := range img.Artefacts {
		if err := r.blobs.Write(ctx, a.Digest, a.Size, bytes.NewReader(r.files[a.Digest])); err != nil {
			return err
		}
	}
	return nil
}

// image makes an image of some bytes.
func (r *blobRegistry) image(name string, size int) resource.Image {
	content := bytes.Repeat([]byte(name[:1]), size)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(content))
	r.files[digest] = content
	return resource.Image{
		Reference: "r.example/" + name, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name))), Architecture: "amd64",
		Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: int64(size)}},
	}
}

func keepBench(t *testing.T, quota int64) (*Room, *blobRegistry, *prometheus.Registry) {
	t.Helper()
	blobs, err := blob.Open(blob.Config{Dir: t.TempDir(), Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	db, err := badger.Open(badger.Config{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "1nca" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = blobs.Close(), db.Close() })
	r, reg := &blobRegistry{blobs: blobs, files: map[string][]byte{}}, prometheus.NewRegistry()
	room := New(Config{Store: st, Logger: slog.New(slog.DiscardHandler), Blobs: blobs, Puller: r, Clock: time.Now, Registerer: reg, Servers: nobody{}})
	return room, r, reg
}

// documented is what a document names: the image that a server boots, and what is kept.
func documented(img resource.Image, keep *message.KeepIntent) store.Overview {
	in := store.Intent{ServerIntent: message.ServerIntent{Server: "n1", Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{Image: img}}}}}
	return store.Overview{Intents: []store.Intent{in}, Rack: message.RackIntent{Keep: keep}}
}

func (r *Room) brings(t *testing.T, img resource.Image) error {
	t.Helper()
	r.images.want(img)
	return r.images.pull(t.Context(), img.Digest)
}

// A group that returns to an earlier image boots it though no registry answers: the file
// was kept. What no document keeps was removed to make room.
func TestKeptForReturn(t *testing.T) {
	for name, keep := range map[string]func(first resource.Image) *message.KeepIntent{
		"last verified": func(i resource.Image) *message.KeepIntent {
			return &message.KeepIntent{Always: []string{i.Artefacts[0].Digest}}
		},
		"older": func(i resource.Image) *message.KeepIntent {
			return &message.KeepIntent{Older: []string{i.Artefacts[0].Digest}}
		},
		"none": func(resource.Image) *message.KeepIntent { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			room, reg, _ := keepBench(t, 95)
			first, second, third := reg.image("a", 30), reg.image("b", 20), reg.image("c", 50)
			room.Keep(documented(first, nil))
			if err := room.brings(t, first); err != nil {
				t.Fatal(err)
			}
			room.Keep(documented(second, keep(first)))
			if err := room.brings(t, second); err != nil {
				t.Fatal(err)
			}
			room.Keep(documented(third, keep(first)))
			err := room.brings(t, third) // makes room
			if err != nil {
				t.Fatal(err)
			}
			reg.gone = true
			room.Keep(documented(first, nil)) // the return
			err = room.brings(t, first)
			if kept := keep(first) != nil; (err == nil) != kept {
				t.Fatalf("with the registry gone: %v", err)
			}
		})
	}
}

// Current and last verified are kept whatever room there is; of the older ones as many as
// fit into half of it with what is needed now, the most wanted first; the rest is counted.
func TestKeptWithinRoom(t *testing.T) {
	room, reg, metrics := keepBench(t, 1000)
	now, verified := reg.image("n", 100), reg.image("v", 150)
	older := []resource.Image{reg.image("x", 100), reg.image("y", 200), reg.image("z", 120)}
	absent := reg.image("w", 1)
	keep := &message.KeepIntent{Always: []string{verified.Artefacts[0].Digest}}
	for _, img := range append(older, absent) {
		keep.Older = append(keep.Older, img.Artefacts[0].Digest)
	}
	for _, img := range append(older, now, verified) {
		if err := reg.Pull(t.Context(), img); err != nil {
			t.Fatal(err)
		}
	}
	room.Keep(documented(now, keep))
	for img, want := range map[*resource.Image]bool{&now: true, &verified: true, &older[0]: true, &older[1]: false, &older[2]: true, &absent: false} {
		if room.pins.pinned[img.Artefacts[0].Digest] != want {
			t.Errorf("%s is pinned: %t", img.Reference, !want)
		}
	}
	want := "# HELP rackboot_agent_earlier_boot_files Files of earlier boot images of server groups that are on disk, by whether they are kept or may be removed to make room.\n" +
		"# TYPE rackboot_agent_earlier_boot_files gauge\nrackboot_agent_earlier_boot_files{state=\"kept\"} 3\nrackboot_agent_earlier_boot_files{state=\"left\"} 1\n"
	if err := testutil.GatherAndCompare(metrics, strings.NewReader(want), "rackboot_agent_earlier_boot_files"); err != nil {
		t.Error(err)
	}
	// One that is needed by nobody any more goes with the document.
	room.Keep(documented(now, nil))
	if room.pins.pinned[verified.Artefacts[0].Digest] {
		t.Error("it is kept without a word of the hub")
	}
}
