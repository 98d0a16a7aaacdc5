package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// keep writes a content as a draft and keeps it. It stays pinned.
func keep(t *testing.T, s *blob.Store, content string) {
	t.Helper()
	d, err := s.Draft(int64(len(content)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if got, size, err := d.Keep(); got != digest(content) || size != int64(len(content)) || err != nil {
		t.Fatalf("kept %s of %d bytes, %v", got, size, err)
	}
}

// A draft is read while it comes, and is a blob only when it is kept.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir, Quota: 30})
	d, err := s.Draft(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"kern", "el"} {
		if _, err := d.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, 4)
	if _, err := d.ReadAt(got, 2); string(got) != "rnel" || err != nil || s.Has(digest("kernel")) {
		t.Errorf("read %q, %v; it is there: %t", got, err, s.Has(digest("kernel")))
	}
	if _, err := d.Write(make([]byte, 15)); !errors.Is(err, blob.ErrLimit) {
		t.Errorf("longer than it may be: %v", err)
	}
	if _, _, err := d.Keep(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Drop(), d.Close()); err != nil {
		t.Error(err)
	}
	if err := s.VerifyOnce(t.Context(), digest("kernel")); err != nil {
		t.Error(err)
	}
	if err := s.Remove(digest("kernel")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("what was kept is pinned: %v", err)
	}
	if err := errors.Join(s.Unpin(digest("kernel")), s.Remove(digest("kernel"))); err != nil {
		t.Error(err)
	}
	d, err = s.Draft(30, 30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Draft(1, 30); !errors.Is(err, blob.ErrInsufficient) {
		t.Errorf("beside one that has all room: %v", err)
	}
	if err := errors.Join(d.Drop(), d.Drop(), d.Close()); err != nil {
		t.Error(err)
	}
	keep(t, s, strings.Repeat("x", 30)) // its room was given back
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("left %q", got)
	}
}

// Blobs take whole blocks, and one more each; who asks is told which of them go.
func TestBlocks(t *testing.T) {
	var evicted []string
	s := open(t, blob.Config{Dir: t.TempDir(), Quota: 80, Block: 10, Evicted: func(d string) { evicted = append(evicted, d) }})
	for _, c := range []byte("abcd") {
		keep(t, s, ten(c))
		if err := s.Unpin(digest(ten(c))); err != nil {
			t.Fatal(err)
		}
	}
	if s.Used() != 80 || s.Room(digest(ten('a'))) != 20 || s.Room(digest("none")) != 0 {
		t.Errorf("used %d, one takes %d", s.Used(), s.Room(digest(ten('a'))))
	}
	if !s.PinIfThere(digest(ten('a'))) || s.PinIfThere(digest(ten('z'))) {
		t.Error("what is there is pinned, and nothing else")
	}
	keep(t, s, "one byte more")
	if got := held(s); got != "ad" || !slices.Equal(evicted, []string{digest(ten('b')), digest(ten('c'))}) {
		t.Errorf("has %q, was told of %q", got, evicted)
	}
}

// A blob of which bytes are lost is gone, also while it is pinned, and what comes anew
// takes the place of a damaged one.
func TestDamagedBlob(t *testing.T) {
	dir := t.TempDir()
	s := open(t, blob.Config{Dir: dir})
	path := filepath.Join(dir, strings.TrimPrefix(digest(ten('a')), "sha256:"))
	damage := func(text string) {
		t.Helper()
		if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, s, ten('a'))
	damage("aaa")
	if _, _, err := s.Open(digest(ten('a'))); protocol.CodeOf(err) != protocol.CodeNotFound || s.Has(digest(ten('a'))) {
		t.Errorf("cut: %v, it is there: %t", err, s.Has(digest(ten('a'))))
	}
	keep(t, s, ten('a'))
	damage(ten('b'))
	keep(t, s, ten('a'))
	if err := s.Verify(t.Context(), digest(ten('a'))); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(ten('b'))
	s = open(t, blob.Config{Dir: dir})
	if err := s.VerifyOnce(t.Context(), digest(ten('a'))); protocol.CodeOf(err) != protocol.CodeInvalid || s.Has(digest(ten('a'))) {
		t.Errorf("damaged: %v, it is there: %t", err, s.Has(digest(ten('a'))))
	}
}

func TestDraftCrashPoints(t *testing.T) {
	statetest.Points(t, func(run statetest.Run) {
		s, err := blob.Open(blob.Config{Dir: run.Dir, Crash: run.Crash})
		if err != nil {
			panic(err)
		}
		for _, content := range []string{ten('a'), ten('b')} {
			digest, _, err := s.Make(context.Background(), 10, func(w io.Writer) error {
				_, err := fmt.Fprint(w, content)
				return err
			})
			if err != nil {
				panic(err)
			}
			run.Ack(digest)
		}
	}, func(t *testing.T, k statetest.Kill) {
		s := open(t, blob.Config{Dir: k.Dir})
		for _, d := range k.Acked {
			if !s.Has(d) {
				t.Errorf("acknowledged %s, which is not there", d)
			}
		}
		for _, d := range s.Digests() {
			if err := s.Verify(t.Context(), d); err != nil {
				t.Error(err)
			}
		}
		if got := files(t, k.Dir); len(got) != len(s.Digests()) {
			t.Errorf("left %q", got)
		}
	})
}

// Nobody who opens another blob waits for the disk of a draft.
func TestDraftHoldsUpNobody(t *testing.T) {
	var s *blob.Store
	passed := 0
	s = open(t, blob.Config{Dir: t.TempDir(), Quota: 20, Crash: func(string) {
		passed++
		if passed > 2 { // those of the first draft are passed
			if f, _, err := s.Open(digest(ten('a'))); err != nil {
				t.Error(err)
			} else if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}})
	keep(t, s, ten('a'))
	keep(t, s, ten('b'))
	if passed != 4 || held(s) != "ab" {
		t.Errorf("%d points, has %q", passed, held(s))
	}
}
