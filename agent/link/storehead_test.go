package link

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// The hub is told in a Hello what the store had at the start, over any number of starts, until it has
// answered; then what it has. In guard mode it is told nothing.
func TestStoreHeadIsSaid(t *testing.T) {
	db := statetest.NewMemory()
	write := func(r *rig) {
		t.Helper()
		if err := r.room.cfg.Store.Events.Append(resource.Event{Code: resource.EventOrdered}); err != nil {
			t.Fatal(err)
		}
	}
	hello := func(r *rig) message.StoreHead {
		t.Helper()
		r.now = r.now.Add(time.Minute)
		r.room.ask(0)
		all := r.hellos()
		if len(all) != 1 {
			t.Fatalf("it says %+v", all)
		}
		return all[0].StoreHead
	}
	first := newRig(t, db, "first")
	first.room.Connected(first)
	began := hello(first)
	if id, err := first.room.cfg.Store.Identity.Incarnation(); err != nil || began.Store != id || began.Sequence == 0 || len(began.Digest) == 0 {
		t.Fatalf("it says %+v of incarnation %s, %v", began, id, err)
	}
	write(first)
	r := newRig(t, db, "second")
	r.room.Connected(r)
	write(r)
	if again := hello(r); again.Sequence != began.Sequence {
		t.Errorf("before an answer, a start later, it says %d, and had %d", again.Sequence, began.Sequence)
	}
	if h := r.room.heads.now(r.room.session.hasMet()); h.Store != "" {
		t.Errorf("before an answer a report says %+v", h)
	}
	r.answers(message.Sync{Nonce: "n1", Fence: message.Fence{Number: 1, Hub: "hub"}, Heads: map[string]protocol.Head{}})
	now := hello(r)
	if now.Sequence <= began.Sequence+1 || now.Sequence != r.room.cfg.Store.Head().Sequence {
		t.Errorf("afterwards it says %+v, and has %+v", now, r.room.cfg.Store.Head())
	}
	r.sent = nil
	r.room.Acknowledge(message.Applied{Doc: message.LeafHold})
	var a message.Applied
	if len(r.sent) != 1 {
		t.Fatalf("%d messages", len(r.sent))
	}
	if err := wire.Open(r.own, message.TopicUp("r1-1", message.LeafApplied), r.sent[0].data, &a); err != nil || a.StoreHead.Sequence != now.Sequence {
		t.Errorf("an acknowledgement says %+v, %v", a.StoreHead, err)
	}
	r.guard = true
	if h := hello(r); h.Store != "" {
		t.Errorf("in guard mode it says %+v", h)
	}
}

// The hub's word that the store is an older copy begins nothing new where somebody can open another.
func TestRolledBackIsLost(t *testing.T) {
	r := newRig(t, statetest.NewMemory(), "run")
	r.room.Connected(r)
	r.hellos()
	id, err := r.room.cfg.Store.Identity.Incarnation()
	if err != nil {
		t.Fatal(err)
	}
	lost, had := "", uint64(0)
	r.room.cfg.Lost = func(was string, seq uint64) { lost, had = was, seq }
	r.answers(message.Sync{Again: true, Nonce: "n1", Renew: id, Had: 7, Fence: message.Fence{Number: 1, Hub: "hub"}})
	if lost != id || had != 7 || !r.room.Dismissed() {
		t.Errorf("lost is %q at %d, and it goes on: %t", lost, had, !r.room.Dismissed())
	}
	if now, err := r.room.cfg.Store.Identity.Incarnation(); err != nil || now != id {
		t.Errorf("it takes the incarnation %s, %v", now, err)
	}
}
