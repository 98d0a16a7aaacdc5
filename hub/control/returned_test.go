package control

import (
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// returning is a site with a hold that was released and is gone, and an agent that gets an older copy of
// its disk, on which the hold lies.
type returning struct {
	*bench
	m   *modern
	was resource.HoldReport
}

func newReturning(t *testing.T) *returning {
	t.Helper()
	b, m := modernSite(t)
	id := b.place("o", "k", "n1")
	b.pass()
	m.listens()
	if _, err := b.store.Holds.Release(ctx(t), id, "o", "over"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.listens()
	b.pass()
	if _, there := b.hold(id); there {
		t.Fatal("the hold lies on after its release was acknowledged")
	}
	return &returning{b, m, enforcedAs(b, id, "k")}
}

func enforcedAs(b *bench, id, key string) resource.HoldReport {
	return resource.HoldReport{ID: id, Word: resource.HoldEnforced, EnforcedAt: b.now, Hold: &resource.ActiveHold{ID: id, HoldSpec: storetest.Hold("o", key, "n1").Spec}}
}

// comesBack has the agent come back with the hold on another disk, and beside it more.
func (r *returning) comesBack(when string, more ...resource.HoldReport) {
	r.t.Helper()
	r.m.incarnation += "'"
	r.m.connects()
	r.pass()
	r.m.listens()
	s := off("n1")
	s.Holds = append(more, r.was)
	r.m.reports(s)
	h, there := r.hold(r.was.ID)
	if !there || h.Status.ReleasedAt == nil || h.Status.ReleasedBy != "o" {
		r.t.Fatalf("%s: the hold is %+v, %v, want it released by its owner", when, h, there)
	}
	r.pass()
	d := last[message.HoldDoc](r.bench, r.m.name, message.LeafHold)
	if len(d.Releases) != 1 || d.Releases[0].HoldID != r.was.ID {
		r.t.Errorf("%s: the document releases %+v", when, d.Releases)
	}
	for _, h := range d.Holds {
		if h.ID == r.was.ID {
			r.t.Errorf("%s: the document holds it", when)
		}
	}
	if _, there := r.hold(r.was.ID); !there {
		r.t.Errorf("%s: it leaves before the agent has acknowledged", when)
	}
	r.m.listens()
	r.pass()
	if _, there := r.hold(r.was.ID); there {
		r.t.Errorf("%s: it stays after the agent has acknowledged", when)
	}
}

// A hold whose release this hub has on record is not taken over again from an agent that has it back:
// it is released once more, by a document. Whether the hub was started anew in between makes no
// difference. One that the hub never knew is taken over.
func TestReleasedHoldIsNotAdoptedAgain(t *testing.T) {
	for name, between := range map[string]func(r *returning){
		"the hub goes on":            func(*returning) {},
		"the hub was started anew":   func(r *returning) { r.restart() },
		"its owner holds it anew":    func(r *returning) { r.place("o", "k", "n1") },
		"it comes back another time": func(r *returning) { r.comesBack("first") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReturning(t)
			between(r)
			r.comesBack(name, enforcedAs(r.bench, "01local", "other"))
			if h, there := r.hold("01local"); !there || h.Status.ReleasedAt != nil {
				t.Errorf("a hold that the hub never knew is %+v, %v, want it taken over", h, there)
			}
			if r.happened(resource.EventHoldReturned) == 0 {
				t.Error("no event says that it was there again")
			}
			if got := r.audited(r.was.ID); len(got) != 2 {
				t.Errorf("filed of the hold are %v, want that it was accepted and released, once", got)
			}
		})
	}
}

// A hub that dies as it has stored the hold again goes on from there.
func TestHubDiesAsAHoldReturns(t *testing.T) {
	r := newReturning(t)
	r.m.incarnation += "'"
	r.m.connects()
	r.pass()
	r.m.listens()
	s := off("n1")
	s.Holds = []resource.HoldReport{r.was}
	r.dies("hub.hold.returned", func() { r.m.reports(s) })
	r.m.connects()
	r.m.reports(s)
	r.pass()
	r.m.listens()
	r.pass()
	if h, there := r.hold(r.was.ID); there {
		t.Errorf("it stays as %+v", h.Status)
	}
	if n := r.happened(resource.EventHoldAdopted); n != 0 {
		t.Errorf("%d holds are taken over", n)
	}
	if r.happened(resource.EventHoldReturned) == 0 {
		t.Error("no event says that it was there again")
	}
}
