package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
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
	if h, there := b.hold(id); !there || h.Status.Word != resource.HoldEnforced {
		t.Errorf("the hold is not at the agent: %+v", h.Status)
	}
	if _, err := b.store.Holds.Release(ctx(t), id, "admin", "o is gone"); err != nil {
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
