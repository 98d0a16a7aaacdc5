package iso

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
)

// A program of a package of agents stays, whole or not, as long as the package is in the book.
func TestProgramsOfPackages(t *testing.T) {
	s := newSite(t, nil)
	content := bytes.Repeat([]byte("program "), 20)
	part := bytes.Repeat([]byte("another "), 20)
	size := int64(len(content))
	for _, row := range []struct {
		name   string
		offset int64
		piece  []byte
		at     int64
		code   protocol.Code
	}{
		{"the first", 0, content[:60], 60, ""},
		{"the first again", 0, content[:60], 60, protocol.CodeConflict},
		{"the last", 60, content[60:], size, ""},
		{"one more", size, content, size, protocol.CodeConflict},
	} {
		at, err := s.Take(t.Context(), digestOf(content), size, row.offset, bytes.NewReader(row.piece))
		if at != row.at || protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %d, %v", row.name, at, err)
		}
	}
	if at, err := s.Take(t.Context(), digestOf(part), size, 0, bytes.NewReader(part[:60])); at != 60 || err != nil {
		t.Fatal(at, err)
	}
	for _, row := range []struct {
		name   string
		digest string
		at     int64
	}{{"whole", digestOf(content), size}, {"a part", digestOf(part), 60}, {"nothing", digestOf([]byte("x")), 0}} {
		if at, err := s.Resume(t.Context(), row.digest, size); at != row.at || err != nil {
			t.Errorf("%s: %d, %v", row.name, at, err)
		}
	}
	signed, err := agentpackage.Sign(agentpackage.Manifest{Version: "0.2.0", Protocol: 1, MadeAt: s.now, Binaries: []agentpackage.Binary{
		{Architecture: "amd64", SHA256: digestOf(content), Size: size}, {Architecture: "arm64", SHA256: digestOf(part), Size: size},
	}}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	row := store.AgentPackage{Digest: digestOf(signed), Manifest: signed}
	if err := s.store.AgentPackages.Put(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	collect := func() {
		s.contents.rest()
		for range 3 {
			s.removal.collect()
			s.now = s.now.Add(2 * collectAfter)
		}
	}
	collect()
	if !s.Has(digestOf(content)) || s.Partial(digestOf(part)) != 60 {
		t.Errorf("with the package: whole %t, %d bytes of the other", s.Has(digestOf(content)), s.Partial(digestOf(part)))
	}
	if err := s.store.AgentPackages.Remove(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	collect()
	if s.Has(digestOf(content)) || s.Partial(digestOf(part)) != 0 {
		t.Errorf("without the package: whole %t, %d bytes of the other", s.Has(digestOf(content)), s.Partial(digestOf(part)))
	}
}
