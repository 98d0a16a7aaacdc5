package iso

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestKeyringTable(t *testing.T) {
	yesno := []string{"yes", "no"}
	doctable.Of(t, "signature.go", "keyringRule").HoldOne(t, [][]string{yesno, yesno, yesno, yesno}, func(in []string) string {
		return string(keyringRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

// plainKeys are a scheme of the test: a keyring is a name, a signature the name, a space
// and the digest of the content.
type plainKeys string

func (plainKeys) Keys(raw []byte) (Keys, error) {
	if bytes.Contains(raw, []byte("PRIVATE")) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read keyring", "it has a private key")
	}
	return plainKeys(raw), nil
}

func (k plainKeys) Known(signature []byte) error {
	if name, _, ok := bytes.Cut(signature, []byte(" ")); !ok || string(name) != string(k) {
		return protocol.Errorf(protocol.CodeDenied, "check signature", "the signature is of key %s", name)
	}
	return nil
}

func (k plainKeys) Check(content io.Reader, signature []byte, _ time.Time) (string, string, error) {
	raw, err := io.ReadAll(content)
	if err != nil {
		return "", "", err
	}
	if string(signature) != string(k)+" "+digestOf(raw) {
		return "", "", errors.New("it is of other content")
	}
	return "FFFF", string(k), nil
}

func TestSignature(t *testing.T) {
	content := archive(t, "a")
	sign := func(by string, content []byte) []byte { return []byte(by + " " + digestOf(content)) }
	hubs := func(c *Config) { c.Verifier, c.Keyring, c.RequireSignature = plainKeys(""), []byte("debian"), true }
	bring := func(c *Config) { c.Verifier = plainKeys("") }
	for _, row := range []struct {
		name      string
		change    func(*Config)
		signature []byte
		keyring   string
		code      protocol.Code
		owner     resource.KeyringOwner
	}{
		{"the hub's key", hubs, sign("debian", content), "", "", resource.KeyringHub},
		{"none, though it must be", hubs, nil, "", protocol.CodeDenied, ""},
		{"an unknown key", hubs, sign("mallory", content), "", protocol.CodeDenied, ""},
		{"the caller's own keys", hubs, sign("mallory", content), "mallory", protocol.CodeDenied, ""},
		{"of another file", hubs, sign("debian", []byte("x")), "", protocol.CodeInvalid, ""},
		{"keys that the caller brings", bring, sign("debian", content), "debian", "", resource.KeyringCaller},
		{"no keys at all", bring, sign("debian", content), "", protocol.CodeInvalid, ""},
		{"keys and no signature", bring, nil, "debian", protocol.CodeInvalid, ""},
		{"private keys", bring, sign("debian", content), "PRIVATE", protocol.CodeInvalid, ""},
		{"a hub that cannot check", nil, sign("debian", content), "debian", protocol.CodeUnsupported, ""},
		{"none", bring, nil, "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, row.change)
			r := request("A.iso", content)
			r.Signature, r.Keyring = row.signature, []byte(row.keyring)
			if len(r.Signature) > 0 {
				r.Scheme = resource.SignatureOpenPGP
			}
			f, err := s.upload(r, content)
			wants(t, row.name, err, row.code)
			if err != nil {
				if got := s.List(t.Context()); len(got.Items)+len(got.Uploads) != 0 {
					t.Errorf("left: %+v", got)
				}
				return
			}
			if row.owner == "" {
				if f.Signature != nil {
					t.Errorf("%+v", f.Signature)
				}
			} else if want := (resource.ISOSignature{Scheme: resource.SignatureOpenPGP, Key: "FFFF", By: "debian", Keyring: row.owner}); f.Signature == nil || *f.Signature != want {
				t.Errorf("%+v", f.Signature)
			}
		})
	}
}

// A signature that comes later is entered without sending the file again, and one that is
// there stays when the same file is uploaded without one.
func TestSignatureLater(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Verifier, c.Keyring = plainKeys(""), []byte("debian") })
	content := archive(t, "a")
	s.uploaded(request("A.iso", content), content)
	r := request("A.iso", content)
	r.Signature, r.Scheme = []byte("debian "+digestOf(content)), resource.SignatureOpenPGP
	u, err := s.Begin(t.Context(), r, "ann")
	if err != nil || u.Done || u.Offset != u.Size {
		t.Fatalf("%+v, %v", u, err)
	}
	if f, err := s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "A.iso"}); err != nil || f.Signature == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := s.blobs.Remove(digestOf(content)); err != nil {
		t.Fatal(err)
	}
	if f := s.uploaded(request("A.iso", content), content); f.Signature == nil {
		t.Error("the signature is forgotten")
	}
}

// The keys of the hub are others after a restart: what was begun is judged by them.
func TestSignatureKeysChange(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Verifier, c.Keyring = plainKeys(""), []byte("debian") })
	content := archive(t, "a")
	r := request("A.iso", content)
	r.Signature, r.Scheme = []byte("debian "+digestOf(content)), resource.SignatureOpenPGP
	u, err := s.Begin(t.Context(), r, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), u.ID, 0, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	s.cfg.Keyring = []byte("fedora")
	s.restart()
	_, err = s.Finish(t.Context(), u.ID, protoapi.ISOFinishRequest{File: "A.iso"})
	wants(t, "the key is none any more", err, protocol.CodeDenied, "debian")
}

func TestOpenRefuses(t *testing.T) {
	good := func() Config {
		s := newSite(t, nil)
		c := s.cfg
		c.Dir, c.Registerer = t.TempDir(), prometheus.NewRegistry()
		return c
	}
	for name, change := range map[string]func(*Config){
		"no folder":                   func(c *Config) { c.Dir = "" },
		"no store":                    func(c *Config) { c.Store = nil },
		"required, and no keys":       func(c *Config) { c.RequireSignature = true },
		"keys that nobody can use":    func(c *Config) { c.Keyring = []byte("debian") },
		"keys that are none":          func(c *Config) { c.Verifier, c.Keyring = plainKeys(""), []byte("PRIVATE") },
		"a quota that is less than 0": func(c *Config) { c.Quota = -1 },
	} {
		c := good()
		change(&c)
		s, err := Open(c)
		if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
		if s != nil {
			t.Errorf("%s: opened", name)
		}
	}
}
