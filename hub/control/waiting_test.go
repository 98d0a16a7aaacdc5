package control

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/events"
	"rackboot/hub/requests"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A request that its agent speaks of waits as long as holds lie; one that nobody
// speaks of is given up.
func TestRequestWaitsBehindHolds(t *testing.T) {
	b, m := modernSite(t)
	b.request("held", resource.RequestReboot)
	b.request("lost", resource.RequestReboot)
	b.pass()
	m.listens()
	r := off("n1")
	r.Requests = []resource.RequestReport{{ID: "held", Outcome: resource.OutcomePending}}
	m.reports(r)
	b.now = b.now.Add(3 * requests.Silence)
	m.reports(r)
	b.pass()
	if o := b.outcome("held"); o.Outcome.Ended() {
		t.Errorf("it waits at the agent, and is %+v", o)
	}
	if o := b.outcome("lost"); o.Outcome != resource.OutcomeUnknown {
		t.Errorf("nobody speaks of it, and it is %+v", o)
	}
	b.restart() // which has heard nobody yet
	b.pass()
	if o := b.outcome("held"); o.Outcome.Ended() {
		t.Errorf("a hub that has just started gave it up: %+v", o)
	}
	m.connects()
	r.Requests[0].Outcome = resource.OutcomeDone
	m.reports(r)
	if o := b.outcome("held"); o.Outcome != resource.OutcomeDone {
		t.Errorf("done, and %+v", o)
	}
}

// A claim that goes ends the requests that were made of it and that no agent has; one
// that an agent has may be done already, and that agent says so.
func TestClaimEndsItsRequests(t *testing.T) {
	b, m := modernSite(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	m.listens()
	uid := b.claim("c1").Metadata.UID
	ask := func(id, claim, incarnation string) {
		q := store.StoredRequest{Request: resource.Request{
			ID: id, Server: "n1", Action: resource.RequestReboot, NotAfter: b.now.Add(time.Hour), Incarnation: incarnation,
			Precondition: resource.Precondition{OwnerUID: claim},
		}, Rack: "r1"}
		if err := b.store.Requests.Put(ctx(t), q); err != nil {
			t.Fatal(err)
		}
	}
	ask("waits", uid, "")
	ask("given", uid, m.incarnation)
	ask("other", "", "")
	if _, err := b.store.Delete(ctx(t), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if o := b.outcome("waits"); o.Outcome != resource.OutcomeRefused || o.Reason != "the claim ends" {
		t.Errorf("not given to an agent: %+v", o)
	}
	for _, id := range []string{"given", "other"} {
		if o := b.outcome(id); o.Outcome.Ended() {
			t.Errorf("%s: %+v", id, o)
		}
	}
}

func TestHoldMetrics(t *testing.T) {
	b, m := modernSite(t)
	hard := storetest.Hold("o", "hard", "n1")
	hard.Spec.Mode = resource.StopHard
	h, err := b.store.Holds.Create(ctx(t), hard)
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(200 * time.Millisecond)
	b.pass()
	m.listens()
	if n := testutil.CollectAndCount(b.control.Outbound.Holds); n != 1 {
		t.Fatalf("%d histograms", n)
	}
	b.now = b.now.Add(time.Hour)
	soft := b.place("o", "soft", "n2")
	stopping := off("n1")
	stopping.Holds = []resource.HoldReport{{ID: h.Metadata.Name, Word: resource.HoldEnforced, State: resource.StateForcing}}
	m.reports(stopping)
	got := func(name string) map[string]float64 {
		t.Helper()
		all, err := b.reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, f := range all {
			if f.GetName() != "rackboot_"+name {
				continue
			}
			for _, s := range f.GetMetric() {
				label := ""
				if len(s.GetLabel()) > 0 {
					label = s.GetLabel()[0].GetValue()
				}
				out[label] = s.GetGauge().GetValue() + s.GetCounter().GetValue() + s.GetHistogram().GetSampleSum()
			}
		}
		return out
	}
	if s := got("hub_holds"); s["Forcing"] != 1 || s["Accepted"] != 1 || len(s) != len(resource.HoldStates()) {
		t.Errorf("%v", s)
	}
	if s := got("hub_hold_oldest_seconds"); s["hard"] != 3600.2 || s["soft"] != 0 {
		t.Errorf("%v", s)
	}
	if s := got("hub_hold_unfenced_oldest_seconds"); s["hard"] != 3600.2 {
		t.Errorf("%v", s)
	}
	if s := got("hub_hold_enforced_seconds"); s[""] != 0.2 {
		t.Errorf("%v", s)
	}
	m.incarnation, m.applied, m.digests = "another disk", map[string]protocol.Head{}, map[string]string{}
	m.connects()
	b.pass()
	m.listens()
	if s := got("hub_hold_enforced_seconds"); s[""] != 0.2 {
		t.Errorf("on another disk it counts again, or the soft one took time: %v", s)
	}
	for id, by := range map[string]string{h.Metadata.Name: "o", soft: "admin"} {
		if _, err := b.store.Holds.Release(ctx(t), id, by, ""); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	if s := got("hub_hold_releases_total"); s["owner"] != 1 || s["break-glass"] != 1 || s["expiry"] != 0 || len(s) != len(events.ReleaseKinds()) {
		t.Errorf("%v", s)
	}
	if s := got("hub_hold_unfenced_oldest_seconds"); s["hard"] != 0 {
		t.Errorf("%v", s)
	}
}
