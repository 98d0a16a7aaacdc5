package api_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/backupfile"
)

// A backup is had by the admin alone, is in the audit log although nothing is changed, and is made also
// while nothing may be changed.
func TestBackup(t *testing.T) {
	h := apitest.NewWith(t, func(c *api.Config) { c.Writable = func() error { return errors.New("the disk is full") } })
	var out bytes.Buffer
	if err := h.ClientOf(t, apitest.Token).Backups.Create(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if m, err := backupfile.Read(&out, nil, nil); err != nil || m.Epoch != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	outcomes := func() (list []protocol.AuditOutcome) {
		for _, e := range h.Records.Entries() {
			if e.Op == "backup" {
				list = append(list, e.Outcome)
			}
		}
		return list
	}
	if got := outcomes(); !slices.Equal(got, []protocol.AuditOutcome{protocol.AuditAsked, protocol.AuditAccepted}) {
		t.Errorf("%q", got)
	}
	for _, who := range []string{"viewer", "operator", "fencer", "row7"} {
		out.Reset()
		if err := h.ClientOf(t, apitest.TokenOf(who)).Backups.Create(t.Context(), &out); protocol.CodeOf(err) != protocol.CodeDenied || out.Len() > 0 {
			t.Errorf("%s: %v", who, err)
		}
	}
	if _, err := h.ClientOf(t, apitest.TokenOf("viewer")).Backups.Status(t.Context()); err != nil {
		t.Error(err)
	}
}

// One that fails on its way has no end, and one that is refused is a problem.
func TestBackupFails(t *testing.T) {
	h := apitest.New(t)
	c := h.ClientOf(t, apitest.Token)
	h.Backups.Set(protoapi.BackupStatus{}, nil, nil, 50)
	var out bytes.Buffer
	if err := c.Backups.Create(t.Context(), &out); err != nil || out.Len() != 50 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	h.Backups.Set(protoapi.BackupStatus{}, nil, protocol.Errorf(protocol.CodeUnavailable, "make backup", "another one is being made").WithHint("wait"), 0)
	out.Reset()
	if err := c.Backups.Create(t.Context(), &out); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) != "wait" || out.Len() > 0 {
		t.Errorf("%v", err)
	}
	none := apitest.NewWith(t, func(c *api.Config) { c.Backups = nil })
	if err := none.ClientOf(t, apitest.Token).Backups.Create(t.Context(), &out); protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), "makes none") {
		t.Errorf("%v", err)
	}
	if _, err := none.ClientOf(t, apitest.Token).Backups.Status(t.Context()); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("%v", err)
	}
}
