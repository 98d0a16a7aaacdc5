package control

import (
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// TestLookReadsOnceForEachState: a view is used again while nothing is written, and
// never after.
func TestLookReadsOnceForEachState(t *testing.T) {
	b, _ := joined(t)
	first := b.control.view.Look(view.Of(wake.RackUnit("r1")))
	if again := b.control.view.Look(first); &again.Servers[0] != &first.Servers[0] {
		t.Error("the fleet is read again though nothing was written")
	}
	if other := b.control.view.Look(view.Of(wake.RackUnit("r1"))); &other.Servers[0] == &first.Servers[0] || other.Servers[0] != first.Servers[0] {
		t.Error("a first look has not its own slices of the shared resources")
	}
	for what, write := range map[string]func() error{
		"a hold": func() error {
			_, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
			return err
		},
		"a claim": func() error {
			_, err := b.store.Sets.Apply(ctx(t), []resource.Object{storetest.Claim("c1", "n2")}, store.ApplyOptions{By: "test"})
			return err
		},
		"a request": func() error {
			_, err := b.store.Requests.Create(ctx(t), store.StoredRequest{Request: resource.Request{
				ID: "r", Server: "n1", Action: resource.RequestReboot, NotAfter: b.now.Add(1e12),
			}, Rack: "r1", Report: resource.RequestReport{Outcome: resource.OutcomePending}})
			return err
		},
		"a removal": func() error {
			return b.store.Objects.Remove(ctx(t), store.List[*resource.Segment](b.store.Objects)[0])
		},
	} {
		before := b.control.view.Look(view.Of(wake.RackUnit("r1")))
		if err := write(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		after := b.control.view.Look(before)
		if &after.Servers[0] == &before.Servers[0] {
			t.Errorf("after %s the fleet is as before", what)
		}
	}
	last := b.control.view.Look(view.Of(wake.SiteUnit))
	if len(last.Holds) != 1 || len(last.Claims) != 1 || len(last.Requests) != 1 || len(last.Segments) != 0 {
		t.Errorf("the last look shows %d holds, %d claims, %d requests, %d segments", len(last.Holds), len(last.Claims), len(last.Requests), len(last.Segments))
	}
}
