package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// died is what a crash point panics with.
type died struct{}

// dies runs do on keys that die at the point, and says whether they came there.
func dies(t *testing.T, dir string, now func() time.Time, point string, do func(*PKI) error) (came bool) {
	t.Helper()
	p, err := open(dir, []string{"hub.example"}, now, func(at string) {
		if at == point {
			panic(died{})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(died); !ok {
				panic(r)
			}
			came = true
		}
	}()
	if err := do(p); err != nil {
		t.Fatal(err)
	}
	return false
}

// A change of the signing key that dies anywhere leaves the key before or the next one,
// and a chain that leads to it from the first.
func TestRotateSigningKilled(t *testing.T) {
	for point, changed := range map[string]bool{"pki.rotate.begin": false, "pki.rotate.key": false, "pki.rotate.stated": true, "pki.rotate.taken": true} {
		dir := t.TempDir()
		p, err := open(dir, []string{"hub.example"}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		first := p.Signer().Public()
		if !dies(t, dir, time.Now, point, (*PKI).RotateSigning) {
			t.Fatalf("never came to %s", point)
		}
		for range 2 { // what was completed once stays
			if p, err = open(dir, []string{"hub.example"}, time.Now); err != nil {
				t.Fatalf("%s: %v", point, err)
			}
			k, err := (wire.Keys{Everyday: first}).Follow(p.Keys().Statements)
			if err != nil || !k.Everyday.Equal(p.Signer().Public()) || k.Everyday.Equal(first) == changed {
				t.Errorf("%s: followed to %x, the hub signs with %x, %v", point, k.Everyday, p.Signer().Public(), err)
			}
		}
		if err := p.RotateSigning(); err != nil {
			t.Errorf("%s: the next change: %v", point, err)
		}
		if past := p.PastKeys(); !past[0].Equal(first) || len(past) != len(p.Keys().Statements) {
			t.Errorf("%s: %d past keys after %d statements", point, len(past), len(p.Keys().Statements))
		}
	}
}

// A statement whose key is lost is not passed over: agents may follow it.
func TestStatementWithoutItsKey(t *testing.T) {
	dir := t.TempDir()
	p, err := open(dir, []string{"hub.example"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	old, err := p.dir.read(signingFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RotateSigning(); err != nil {
		t.Fatal(err)
	}
	if err := p.dir.write(signingFile, old); err != nil {
		t.Fatal(err)
	}
	if _, err := open(dir, []string{"hub.example"}, time.Now); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("opened: %v", err)
	}
}

// The next authority is told and signs nothing; once it signs, the certificates of the
// one before are good for their time, and its key is gone.
func TestRotateCA(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	dir := t.TempDir()
	p, err := open(dir, []string{"hub.example"}, clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.FinishCA(); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("finished what was not begun: %v", err)
	}
	old := p.ca.cert
	before, err := p.IssueAgent(request(t, edKey(), &x509.CertificateRequest{}), "r1-1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.StageCA(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		point   string
		signs   bool // the next one
		trusted int
	}{{"pki.ca.former", false, 2}, {"pki.ca.taken", true, 2}} {
		copied := filepath.Join(t.TempDir(), "pki")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		private(t, copied)
		if !dies(t, copied, clock, c.point, (*PKI).FinishCA) {
			t.Fatalf("never came to %s", c.point)
		}
		q, err := open(copied, []string{"hub.example"}, clock)
		if err != nil {
			t.Fatalf("%s: %v", c.point, err)
		}
		if q.ca.cert.Equal(old) == c.signs || len(q.authorities()) != c.trusted {
			t.Errorf("%s: the old one signs %t, %d are trusted", c.point, q.ca.cert.Equal(old), len(q.authorities()))
		}
	}
	if err := p.FinishCA(); err != nil {
		t.Fatal(err)
	}
	if p, err = open(dir, []string{"hub.example"}, clock); err != nil {
		t.Fatal(err)
	}
	if p.ca.cert.Equal(old) || p.Staged() {
		t.Error("the next authority does not sign")
	}
	cert, err := p.hubCertificate()
	if err != nil || cert.Leaf.CheckSignatureFrom(p.ca.cert) != nil || !bytes.Equal(cert.Certificate[1], p.ca.cert.Raw) {
		t.Errorf("the hub's certificate is of another authority: %v", err)
	}
	verify := func() error {
		block, _ := pem.Decode(before)
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		_, err = leaf.Verify(x509.VerifyOptions{Roots: p.pool(), CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		return err
	}
	if err := verify(); err != nil {
		t.Errorf("a certificate of the one before: %v", err)
	}
	now = now.Add(MaxAgentValidity + time.Second)
	if p, err = open(dir, []string{"hub.example"}, clock); err != nil {
		t.Fatal(err)
	}
	if err := verify(); err == nil {
		t.Error("the one before is trusted for ever")
	}
}

// private gives files the modes of key files.
func private(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
