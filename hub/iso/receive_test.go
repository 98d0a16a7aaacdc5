package iso

import (
	"bytes"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The hub fetches a content that somebody uploads, or the other way round: one at a time,
// each goes on where the other was, and there is one content.
func TestReceive(t *testing.T) {
	content := archive(t, "kernel")
	s := newSite(t, nil)
	digest := digestOf(content)
	r, err := s.Receive(t.Context(), digest, int64(len(content)))
	if err != nil || r.Offset() != 0 {
		t.Fatal(r, err)
	}
	if err := r.Append(t.Context(), bytes.NewReader(content[:100])); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("finished early: %v", err)
	}
	if _, err := s.Receive(t.Context(), digest, int64(len(content))); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("twice at once: %v", err)
	}
	r.Close()
	if n := s.Partial(digest); n != 100 {
		t.Errorf("%d bytes are kept", n)
	}
	u, err := s.Begin(t.Context(), request("A.tar", content), "ann")
	if err != nil || u.Offset != 100 {
		t.Fatalf("%+v, %v", u, err)
	}
	if _, err := s.Append(t.Context(), u.ID, 100, bytes.NewReader(content[100:200])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Receive(t.Context(), digest, 7); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("of another size: %v", err)
	}
	if r, err = s.Receive(t.Context(), digest, int64(len(content))); err != nil || r.Offset() != 200 {
		t.Fatal(r, err)
	}
	if err := r.Append(t.Context(), bytes.NewReader(content[200:])); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if !s.Has(digest) || s.Partial(digest) != 0 {
		t.Error("it is not there")
	}
	if r, err := s.Receive(t.Context(), digest, int64(len(content))); r != nil || err != nil {
		t.Errorf("there already: %v, %v", r, err)
	}
}

// What does not have its digest is gone, and what the hub needs stays when the rest goes.
func TestReceivedIsCollected(t *testing.T) {
	content, other := archive(t, "kernel"), archive(t, "other")
	s := newSite(t, nil)
	bring := func(digest string, content []byte) error {
		r, err := s.Receive(t.Context(), digest, int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Append(t.Context(), bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		return r.Finish()
	}
	if err := bring(digestOf(content), other); protocol.CodeOf(err) != protocol.CodeInvalid || s.Has(digestOf(content)) || s.Partial(digestOf(content)) != 0 {
		t.Errorf("another content: %v", err)
	}
	for _, c := range [][]byte{content, other} {
		if err := bring(digestOf(c), c); err != nil {
			t.Fatal(err)
		}
	}
	s.needed[digestOf(content)] = true
	for range 2 {
		s.removal.collect()
		s.now = s.now.Add(2 * collectAfter)
	}
	if !s.Has(digestOf(content)) || s.Has(digestOf(other)) {
		t.Errorf("needed %t, not needed %t", s.Has(digestOf(content)), s.Has(digestOf(other)))
	}
}

func TestCheckSignature(t *testing.T) {
	content := archive(t, "kernel")
	keys := func(c *Config) { c.Verifier, c.Keyring = plainKeys(""), []byte("fedora") }
	good := []byte("fedora " + digestOf(content))
	for name, row := range map[string]struct {
		change    func(*Config)
		signature []byte
		code      protocol.Code
	}{
		"good":             {keys, good, ""},
		"unknown key":      {keys, []byte("mallory " + digestOf(content)), protocol.CodeDenied},
		"of other content": {keys, []byte("fedora " + digestOf([]byte("x"))), protocol.CodeInvalid},
		"no keys":          {nil, good, protocol.CodeUnsupported},
	} {
		s := newSite(t, row.change)
		s.uploaded(request("A.tar", content), content)
		got, err := s.CheckSignature(t.Context(), digestOf(content), resource.SignatureOpenPGP, row.signature)
		if protocol.CodeOf(err) != row.code || row.code == "" && (got.Key != "FFFF" || got.Keyring != resource.KeyringHub) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s := newSite(t, func(c *Config) { keys(c); c.RequireSignature = true })
	if err := s.Judges(""); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("none where one is required: %v", err)
	}
}
