package faults

import (
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// TestOrphanedServer: a hub is put back to before a claim whose server was booted, and is told so. The
// server is not Available: its agent has an attempt of a claim that nobody knows. A new claim that names
// it boots nothing until somebody decides, and when that one has let it go it is Available.
func TestOrphanedServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, seedOf(t), 1, newBroker)
		b := &table{site: s, broker: s.net.(*broker)}
		defer func() { b.stop(b.more...) }()
		b.untilSettled("at the beginning", true)
		server := func() *resource.Server {
			sv, err := store.Get[*resource.Server](b.hub.store.Objects, claimed)
			if err != nil {
				t.Fatal(err)
			}
			b.hub.control.Status.Decorate(sv)
			return sv
		}
		old := b.hub.disk.Load().Copy()
		b.claim(claimed)
		b.until("an attempt", 10*time.Minute, func() bool { return b.agent().found().records[claimed].Attempt != nil })
		attempt := b.agent().found().records[claimed].Attempt.ID
		b.rollBackHub(old)
		b.hub.kill()
		b.hub.raiseEpoch()
		b.hub.start()
		b.until("that the server is orphaned", 5*time.Minute, func() bool { return b.has(server().Status.Conditions, resource.CondOrphaned) })
		if p := server().Status.Phase; p != resource.PhaseError {
			t.Errorf("the server is %s", p)
		}

		b.claim(claimed)
		open := func() bool {
			cl := b.hub.store.Claims.Of(claimed)
			return cl != nil && cl.Status.Decision.Open() && cl.Status.Decision.Why == resource.DecisionOrphaned
		}
		b.until("that the new claim waits for a decision", 5*time.Minute, open)
		b.wait(15 * time.Minute)
		if a := b.agent().found().records[claimed].Attempt; !open() || a != nil && a.ID != attempt {
			t.Errorf("it is booted: %+v", a)
		}
		b.claim(claimed) // which deletes it
		b.until("that the server is Available", 10*time.Minute, func() bool {
			return server().Status.Phase == resource.PhaseAvailable && !b.has(server().Status.Conditions, resource.CondOrphaned)
		})
	})
}
