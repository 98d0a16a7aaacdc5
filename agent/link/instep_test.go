package link

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state/statetest"
)

// TestInStep: the agent is in step when the hub has answered and all that it has is in force; not by a hub that has documents for it
// that have not come, one that does not know the Hello yet, and not in guard mode. What it can beside is in its Hello.
func TestInStep(t *testing.T) {
	steps := 0
	rig := func(run string) *rig {
		r := newRig(t, statetest.NewMemory(), run)
		r.room.cfg.InStep = func() { steps++ }
		r.room.cfg.Capabilities = []message.Capability{message.CapUpgrade}
		r.room.Connected(r)
		return r
	}
	fence := message.Fence{Number: 1, Hub: "hub"}

	r := rig("first")
	if h := r.hellos(); len(h) != 1 || !slices.Contains(h[0].Capabilities, message.CapUpgrade) || !slices.Contains(h[0].Capabilities, message.CapAsk) {
		t.Fatalf("it says %+v", h)
	}
	r.answers(message.Sync{Nonce: "a", Fence: fence, Again: true})
	r.answers(message.Sync{Nonce: "b", Fence: fence, Heads: map[string]protocol.Head{message.LeafHold: {Epoch: 1, Version: 4}}})
	if steps != 0 {
		t.Errorf("%d times in step with a document to come", steps)
	}
	r.now = r.now.Add(time.Minute)
	r.answers(message.Sync{Nonce: "c", Fence: fence, Heads: map[string]protocol.Head{}})
	if steps != 1 {
		t.Errorf("%d times in step", steps)
	}

	steps = 0
	g := rig("guards")
	g.guard = true
	g.hellos()
	g.answers(message.Sync{Nonce: "a", Fence: fence, Heads: map[string]protocol.Head{}})
	if steps != 0 {
		t.Errorf("%d times in step in guard mode", steps)
	}
}
