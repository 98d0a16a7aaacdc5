package control

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A claim that names a server waits for no turn of the site, and one that selects has a server
// chosen there, which its rack binds.
func TestWhoBinds(t *testing.T) {
	b, agent := joined(t)
	n1 := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	n1.Metadata.Labels = map[string]string{"row": "7"}
	b.apply(n1)
	b.reports(agent, off("n1"), off("n2"))
	b.pass()
	b.apply(storetest.Claim("named", "n2"), labelled("label"))
	turn := func(unit string) {
		t.Helper()
		if err := b.control.turn(t.Context(), unit); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when, named, label string) {
		t.Helper()
		if got := []string{b.claim("named").Status.Server, b.claim("label").Status.Server}; !slices.Equal(got, []string{named, label}) {
			t.Errorf("%s: bound to %q, want %q and %q", when, got, named, label)
		}
	}
	turn(wake.RackUnit("r1"))
	expect("after a turn of the rack", "n2", "")
	turn(wake.SiteUnit)
	expect("after one of the site", "n2", "")
	turn(wake.RackUnit("r1"))
	expect("after another one of the rack", "n2", "n1")
	turn(wake.SiteUnit)
	turn(wake.RackUnit("r1"))
	expect("after one more of each", "n2", "n1")
}

// A server that was chosen and is held by then is not given.
func TestAChoiceIsJudgedAgain(t *testing.T) {
	b, agent := joined(t)
	n1 := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	n1.Metadata.Labels = map[string]string{"row": "7"}
	b.apply(n1)
	b.reports(agent, off("n1"))
	b.pass()
	b.apply(labelled("label"))
	if _, err := b.control.Owners.Claims.Offer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if c := b.claim("label"); c.Status.Server != "" || codes(c.Status.Conditions) != "Unbound" {
		t.Errorf("bound to %q: %+v", c.Status.Server, c.Status.Conditions)
	}
}

// The lane of hold documents is woken by holds, and not by what else happens in a rack.
func TestTheLaneOfHolds(t *testing.T) {
	b, agent := joined(t)
	b.reports(agent, off("n1"))
	b.pass()
	woken := func(do func()) []string {
		b.control.wake.By(b.deltas)
		b.control.sleep()
		do()
		b.control.wake.By(b.deltas)
		return b.control.wake.Holds.Take()
	}
	if got := woken(func() {
		b.apply(storetest.Claim("c1", "n1"))
		if err := b.control.turn(t.Context(), wake.RackUnit("r1")); err != nil {
			t.Fatal(err)
		}
		b.reports(agent, on("n1"))
	}); len(got) > 0 {
		t.Errorf("a claim, a turn and a report wake %v", got)
	}
	var h *resource.Hold
	if got := woken(func() {
		var err error
		if h, err = b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
			t.Fatal(err)
		}
	}); !slices.Equal(got, []string{"r1"}) {
		t.Errorf("a hold wakes %v", got)
	}
	b.control.wake.Sweeping.Store(false)
	woken(func() {
		h, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name)
		if err == nil {
			err = b.store.Objects.Remove(ctx(t), h)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if b.control.wake.Sweeping.Load() {
		t.Error("a hold that goes begins a sweep over everything")
	}
}

// A turn, and a report that is taken, give way to a hold that is being placed.
func TestBackgroundGivesWay(t *testing.T) {
	b, agent := joined(t)
	b.pass()
	defer b.store.Haste.Hurry()() // for longer than anybody waits
	for name, do := range map[string]func(){
		"a turn of a rack":   func() { _ = b.control.turn(t.Context(), wake.RackUnit("r1")) },
		"a turn of the site": func() { _ = b.control.turn(t.Context(), wake.SiteUnit) },
		"a report":           func() { b.reports(agent, off("n1")) },
	} {
		begun := time.Now()
		do()
		if took := time.Since(begun); took < 50*time.Millisecond {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// The lane sends a hold document that a turn of the rack has entered and not sent yet, and background work
// gives way until the agent will have answered.
func TestTheLaneSends(t *testing.T) {
	b, m := modernSite(t)
	b.pass()
	for n := range 10 { // where the machine does something else meanwhile
		if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", fmt.Sprint("k", n), "n1")); err != nil {
			t.Fatal(err)
		}
		if err := b.control.Outbound.Holds.Enter(ctx(t), "r1"); err != nil {
			t.Fatal(err)
		}
		b.sent = nil
		if err := b.control.Outbound.Holds.Turn(ctx(t), "r1"); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(b.sent, func(p packet) bool { return p.topic == message.TopicDown(m.name, message.LeafHold) }) {
			t.Fatalf("sent %+v", b.sent)
		}
		m.listens() // and acknowledges
		if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("p", fmt.Sprint("k", n), "n1")); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := b.control.Outbound.Holds.Turn(ctx(t), "r1"); err != nil {
			t.Fatal(err)
		}
		b.store.Haste.GiveWay(store.Patient(ctx(t)))
		if took := time.Since(begun); took >= 40*time.Millisecond {
			return
		}
		m.listens()
	}
	t.Error("nobody waits for an answer")
}
