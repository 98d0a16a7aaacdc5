package files

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"rackboot/state/blob"
)

// TestBring: a file that no server boots from is brought and kept while servers' files are looked through, and goes when it is
// let go. What is not what its digest says is told from what may come later.
func TestBring(t *testing.T) {
	content := bytes.Repeat([]byte("a release "), 1000)
	iso := isoOf(content)
	hub := &isoHub{files: map[string][]byte{}}
	p := isoBench(t, t.TempDir(), hub, 1<<20, ISOLimits{}, nil)
	r := &Room{uploads: p}
	nothing := func(string) bool { return false }

	if err := r.Bring(t.Context(), "release", iso.Digest, iso.Size); err == nil || errors.Is(err, blob.ErrContent) {
		t.Errorf("a hub without it: %v", err)
	}
	half := len(content) / 2
	hub.files[iso.Digest] = content[:half]
	if err := r.Bring(t.Context(), "release", iso.Digest, iso.Size); err == nil {
		t.Error("half of it is all")
	}
	p.Keep(nothing)
	if parts := p.cfg.Blobs.Parts(); len(parts) != 1 || parts[0].Bytes != int64(half) {
		t.Errorf("what came of it is %+v", parts)
	}
	hub.files[iso.Digest] = content
	if err := r.Bring(t.Context(), "release", iso.Digest, iso.Size); err != nil {
		t.Fatal(err)
	}
	if at := hub.asked[len(hub.asked)-1]; at != int64(half) {
		t.Errorf("it is asked for from %d on", at)
	}
	p.Keep(nothing)
	in, err := r.Read(iso.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // letting go twice is no error
		if err := r.Let(iso.Digest); err != nil || p.cfg.Blobs.Has(iso.Digest) {
			t.Errorf("it is there (%v)", err)
		}
	}

	other := isoOf([]byte("another release"))
	hub.files[other.Digest] = []byte("Another release")
	if err := r.Bring(t.Context(), "release", other.Digest, other.Size); !errors.Is(err, blob.ErrContent) {
		t.Errorf("another content: %v", err)
	}
	large := other
	large.Size = 1 << 30
	large.Digest = isoOf([]byte("x")).Digest
	if err := r.Bring(t.Context(), "release", large.Digest, large.Size); !errors.Is(err, blob.ErrInsufficient) {
		t.Errorf("no room: %v", err)
	}
	if err := r.Let(large.Digest); err != nil {
		t.Error(err)
	}
}
