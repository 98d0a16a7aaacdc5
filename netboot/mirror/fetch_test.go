package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// Kernel and initrd of one boot stay together, whatever the repository does, and across a
// restart without it (P7, P8).
func TestFetch(t *testing.T) {
	bubble(t, mirror.Config{Fresh: time.Second}, func(t *testing.T, b *bench) {
		b.put("/pub/boot/linux", page{content: "kernel 1", etag: `"k1"`})
		b.put("/pub/boot/initrd.gz", page{content: "initrd 1"})
		wants := []mirror.Want{{Name: "boot/linux", SHA256: sum("kernel 1")}, {Name: "boot/initrd.gz"}}
		set, err := b.m.Fetch(t.Context(), "server-1", bubbleBase, wants)
		if err != nil {
			t.Fatal(err)
		}
		files := set.Files()
		if len(files) != 2 || files[1].Name != "boot/linux" || files[1].SHA256 != sum("kernel 1") || files[1].ETag != `"k1"` || files[1].Size != 8 || files[1].Stale ||
			files[0].ModTime.IsZero() || set.Base() != bubbleBase+"/" {
			t.Errorf("%+v of %s", files, set.Base())
		}
		if err := fstest.TestFS(set, "boot/linux", "boot/initrd.gz"); err != nil {
			t.Error(err)
		}
		b.put("/pub/boot/linux", page{content: "kernel 2", etag: `"k2"`})
		b.put("/pub/boot/initrd.gz", page{content: "initrd 2", etag: `"i2"`})
		time.Sleep(time.Minute)
		b.want("boot/linux", "kernel 2")
		want(t, set, "boot/linux", "kernel 1")

		// One that fails leaves what was pinned.
		if _, err := b.m.Fetch(t.Context(), "server-1", bubbleBase, append(wants[1:], mirror.Want{Name: "gone"})); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
			t.Errorf("%v", err)
		}
		b.down()
		b.restart()
		if got := b.m.Pins(); !slices.Equal(got, []string{"server-1"}) {
			t.Errorf("pins %q", got)
		}
		if set, err = b.m.Pinned("server-1"); err != nil {
			t.Fatal(err)
		}
		want(t, set, "boot/linux", "kernel 1")
		want(t, set, "boot/initrd.gz", "initrd 1")

		// What is cached does, and says that it is stale.
		time.Sleep(time.Minute)
		again, err := b.m.Fetch(t.Context(), "server-2", bubbleBase, []mirror.Want{{Name: "boot/linux"}})
		if err != nil || !again.Files()[0].Stale {
			t.Fatalf("%+v, %v", again, err)
		}
		want(t, again, "boot/linux", "kernel 2")

		b.m.Unpin("server-1")
		b.m.Unpin("never")
		if _, err := b.m.Pinned("server-1"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("%v", err)
		}
		if _, err := fs.ReadFile(set, "boot/linux"); err == nil {
			t.Error("what nobody needs was kept")
		}
		if _, err := set.Open("other"); err == nil {
			t.Error("a set has other files")
		}
	})
}

func TestFetchRefuses(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "a", etag: `"1"`})
		for name, c := range map[string]struct {
			pin   string
			wants []mirror.Want
		}{
			"no name":        {"", []mirror.Want{{Name: "a"}}},
			"nothing":        {"p", nil},
			"twice":          {"p", []mirror.Want{{Name: "a"}, {Name: "a"}}},
			"a folder":       {"p", []mirror.Want{{Name: "."}}},
			"traversal":      {"p", []mirror.Want{{Name: "../a"}}},
			"no hash":        {"p", []mirror.Want{{Name: "a", SHA256: "abc"}}},
			"another hash":   {"p", []mirror.Want{{Name: "a", SHA256: sum("b")}}},
			"file in a file": {"p", []mirror.Want{{Name: "a"}, {Name: "a/b"}}},
		} {
			if _, err := b.m.Fetch(t.Context(), c.pin, bubbleBase, c.wants); protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := b.m.Fetch(t.Context(), "p", "http://elsewhere.example", []mirror.Want{{Name: "a"}}); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%v", err)
		}
		if got := b.m.Pins(); len(got) != 0 {
			t.Errorf("pins %q", got)
		}
		// A hash that fits after the file was corrected, though the wrong one is cached.
		b.want("a", "a")
		b.put("/pub/a", page{content: "b", etag: `"1"`})
		set, err := b.m.Fetch(t.Context(), "p", bubbleBase, []mirror.Want{{Name: "a", SHA256: sum("b")}})
		if err != nil {
			t.Fatal(err)
		}
		want(t, set, "a", "b")
	})
}

// overwrite writes a content, which is read-only.
func overwrite(path, text string) error {
	return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte(text), 0o600))
}

// What rotted on the disk is found before it is pinned, and fetched again.
func TestFetchVerifies(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abc", etag: `"1"`})
		b.want("a", "abc")
		if err := overwrite(contentsIn(t, b.cfg.Dir)[0], "abd"); err != nil {
			t.Fatal(err)
		}
		b.restart()
		set, err := b.m.Fetch(t.Context(), "p", bubbleBase, []mirror.Want{{Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		want(t, set, "a", "abc")
		if err := set.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		b.restart()
		if err := overwrite(contentsIn(t, b.cfg.Dir)[0], "abd"); err != nil {
			t.Fatal(err)
		}
		if set, err = b.m.Pinned("p"); err != nil {
			t.Fatal(err)
		}
		if err := set.Verify(t.Context()); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("Verify: %v", err)
		}
		b.want("a", "abc")
		if set, err = b.m.Pinned("p"); err != nil {
			t.Fatal(err)
		}
		want(t, set, "a", "abc")
		if err := os.Remove(contentsIn(t, b.cfg.Dir)[0]); err != nil {
			t.Fatal(err)
		}
		b.restart()
		if _, err := b.m.Pinned("p"); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
			t.Errorf("a pin without its file: %v", err)
		}
		b.want("a", "abc") // and with it again
		if _, err := b.m.Pinned("p"); err != nil {
			t.Error(err)
		}
		b.m.Unpin("p")
	})
}

// A caller that goes leaves nothing behind, and the fetch goes on.
func TestFetchCanceled(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/a", page{content: "abc", etag: `"1"`, after: 1, gate: gate})
		b.put("/pub/b", page{content: "b"})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := b.m.Fetch(ctx, "p", bubbleBase, []mirror.Want{{Name: "b"}, {Name: "a"}}); protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("%v", err)
		}
		close(gate)
		b.want("a", "abc")
		if got := b.m.Pins(); len(got) != 0 {
			t.Errorf("pins %q", got)
		}
		asked := b.requests() // at once
		if slices.Sort(asked); !slices.Equal(asked, []string{"GET /pub/a", "GET /pub/b"}) {
			t.Errorf("asked %q", asked)
		}
	})
}

// One that changes while it is fetched is fetched once more.
func TestFetchChanged(t *testing.T) {
	bubble(t, mirror.Config{}, func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.put("/pub/a", page{content: strings.Repeat("a", 10_000), etag: `"1"`, after: 1, gate: gate, cut: true})
		time.AfterFunc(time.Second, func() {
			b.put("/pub/a", page{content: strings.Repeat("b", 10_000), etag: `"2"`})
			close(gate)
		})
		set, err := b.m.Fetch(t.Context(), "p", bubbleBase, []mirror.Want{{Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		want(t, set, "a", strings.Repeat("b", 10_000))
	})
}
