package control

import (
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/heads"
)

// Agents are told what the hub's store has, by one signature for all: the same bytes while nothing has
// changed. An agent that was told of more has the hub only read, before any document is made for it; one
// whose word this hub did not sign changes nothing.
func TestAgentWasToldOfMore(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	now := heads.Checkpoint{Store: "one", Epoch: b.control.fence.Epoch(), Sequence: 10}
	b.control.fence.Follows(func() *heads.Checkpoint { c := now; return &c })
	m := b.modern(b.join("r1"))
	told := func() []byte {
		t.Helper()
		m.connects()
		return m.syncs[len(m.syncs)-1].HubHead
	}
	first := told()
	b.now = b.now.Add(time.Hour)
	if again := told(); len(first) == 0 || string(again) != string(first) {
		t.Errorf("nothing has changed, and told is %x, before %x", again, first)
	}
	now.Sequence = 12
	b.now = b.now.Add(time.Minute)
	more := told()
	if string(more) == string(first) {
		t.Error("what has changed is not told")
	}
	now.Sequence = 11
	forged, err := wire.Seal(wire.NewSigner(key("somebody")), wire.FactHubHead, message.HubHead{Store: "one", Epoch: now.Epoch, Sequence: 900})
	if err != nil {
		t.Fatal(err)
	}
	m.hubHead = forged
	m.connects()
	m.hubHead = first
	m.connects()
	if l := b.store.Lost(); l != nil {
		t.Fatalf("lost is %v", l)
	}
	m.hubHead = more
	m.connects()
	if b.store.Lost() == nil {
		t.Error("a hub that has less than it told goes on")
	}
	b.sent = nil
	b.pass()
	if len(b.sent) != 0 {
		t.Errorf("%d messages are sent by a hub that only reads", len(b.sent))
	}
}
