package control

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// trail is an audit log in memory.
type trail struct {
	entries []protocol.AuditEntry
	full    bool
}

func (r *trail) Append(_ context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error) {
	if r.full {
		return e, errors.New("no space left on device")
	}
	r.entries = append(r.entries, e)
	return e, nil
}

// Read implements Trail.
func (r *trail) Read(from uint64, limit int) ([]protocol.AuditEntry, uint64, error) {
	end := min(from+uint64(limit), uint64(len(r.entries)))
	return r.entries[min(from, end):end], end, nil
}

// Since implements Trail.
func (r *trail) Since(time.Time) uint64 { return 0 }

// of are the operations on a target.
func (r *trail) of(target string) (ops []string) {
	for _, e := range r.entries {
		if e.Target == target {
			ops = append(ops, e.Op)
		}
	}
	return ops
}

// The table at recordOwn, for all events.
func TestOwnEntries(t *testing.T) {
	raw, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\w+) +\| (\w+) +\| (\w+)`).FindAllStringSubmatch(string(raw), -1) {
		rows[m[1]] = m[2:]
	}
	delete(rows, "event")
	if len(rows) != 15 {
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	for _, code := range protocol.EventCodes() {
		ev := api.EventRecord{Event: protocol.Event{Code: code, Message: "by admin"}}
		row := rows[string(code)]
		switch {
		case row == nil, row[1] == "none":
		case row[1] == "Server":
			ev.Server = "n1"
		default:
			ev.Target = &protocol.Target{Kind: protocol.Kind(row[1]), Name: "b1"}
		}
		e, ok := ownEntry(ev)
		switch {
		case ok != (row != nil):
			t.Errorf("%s is noted: %t", code, ok)
		case !ok:
		case e.Op != row[0] || e.Caller != "hub" || !strings.HasSuffix(e.Detail, ev.Message) || e.Target != map[string]string{"none": "", "BMC": "BMC/b1", "Server": "Server/n1", "Maintenance": "Maintenance/b1", "ServerGroup": "ServerGroup/b1"}[row[1]]:
			t.Errorf("%s is noted as %+v", code, e)
		}
		delete(rows, string(code))
	}
	if len(rows) > 0 {
		t.Errorf("no such events: %v", rows)
	}
}

// Who did what to a hold is in the audit log, with the reason; while it cannot be
// written, neither the event is filed nor the hold removed, and both are made up for.
func TestHoldsRecorded(t *testing.T) {
	b, m := modernSite(t)
	b.trail.full = true
	id := b.place("o", "k", "n1")
	fails := func() {
		for range 3 {
			if err := b.control.reconcile(ctx(t)); err == nil || !strings.Contains(err.Error(), "no space") {
				t.Errorf("reconciled: %v", err)
			}
		}
		m.listens()
	}
	fails()
	if h, there := b.hold(id); !there || h.Status.Word != protocol.HoldEnforced {
		t.Errorf("the hold is not at the agent: %+v", h.Status)
	}
	if _, err := b.store.ReleaseHold(ctx(t), id, "admin", "o is gone"); err != nil {
		t.Fatal(err)
	}
	fails()
	if _, there := b.hold(id); !there || len(b.audited(id)) > 0 {
		t.Errorf("there: %t, filed: %v", there, b.audited(id))
	}
	b.trail.full = false
	b.pass()
	b.pass()
	if _, there := b.hold(id); there {
		t.Error("the hold lies on")
	}
	i := slices.IndexFunc(b.trail.entries, func(e protocol.AuditEntry) bool { return e.Op == "release" })
	if got := b.trail.of("Hold/" + id); !slices.Equal(got, []string{"hold", "release"}) {
		t.Fatalf("%v", got)
	}
	e := b.trail.entries[i]
	if e.Caller != "admin" || e.Reason != "o is gone" || e.From != "hub" || e.Outcome != protocol.AuditAccepted || !strings.Contains(e.Detail, "server n1: key k") {
		t.Errorf("%+v", e)
	}
}
