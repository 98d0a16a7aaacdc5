package site

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
)

// TestAuditOldBackup: what is done to holds is in the audit log of a hub, whose export
// needs nothing but hub.pub to be verified. A log that was put back from an older copy
// and went on is no continuation of an export from before: it is forked where the copy
// was made, although it verifies by itself.
func TestAuditOldBackup(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	first := s.accepted("n1", "first")
	s.audited("hold", first.Metadata.Name)
	s.stopHub()
	saved := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", s.hub.DataDir, saved).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.startHub()
	s.audited("hold", s.accepted("n1", "second").Metadata.Name)
	before := s.exported()
	s.audited("hold", s.accepted("n1", "third").Metadata.Name)
	if f := s.exported().Follows(before); f != nil {
		t.Errorf("a log that went on: %v", f)
	}
	s.stopHub()

	if err := os.RemoveAll(s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(saved, s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	if _, err := hubdaemon.RaiseEpoch(t.Context(), s.hub); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	if _, err := s.client.Holds.Release(t.Context(), first.Metadata.Name, api.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	s.audited("release", first.Metadata.Name)
	s.audited("restored", "")
	if f := s.exported().Follows(before); f == nil || f.Fault != auditlog.Forked {
		t.Errorf("a log that was put back: %v", f)
	}
}

// audited waits for an entry about a hold, or about nothing, of the admin or the hub.
func (s *site) audited(op, hold string) {
	s.t.Helper()
	q := api.AuditQuery{Limit: api.MaxAuditPage}
	if hold != "" {
		q.Target = "Hold/" + hold
	}
	var list api.AuditList
	s.until("the audit entry "+op, func() bool {
		var err error
		if list, err = s.client.Audit.List(s.t.Context(), q); err != nil {
			s.t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(e protocol.AuditEntry) bool { return e.Op == op && e.Outcome == protocol.AuditAccepted })
	}, func() any { return list })
}

// exported is an export that verifies by the key that lies in the hub's folder.
func (s *site) exported() *auditlog.History {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.hub.DataDir, "hub.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.client.Audit.Export(s.t.Context(), 0, &out); err != nil {
		s.t.Fatal(err)
	}
	h, err := auditlog.ReadHistory(&out, auditlog.NewKeys(key.(ed25519.PublicKey)))
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}
