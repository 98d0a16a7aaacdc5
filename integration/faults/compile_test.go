package faults

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestCompileBug: whatever a hub signs, in a document that is newer and well
// formed: a hold stays, its server stays off, the agent says what is missing, and
// no longer than until the documents are right again.
func TestCompileBug(t *testing.T) {
	for _, row := range []struct {
		name string
		bug  func(*bug)
		want resource.ConditionCode // of the server; empty is none
	}{
		{"the hold is left out", (*bug).leaveOutHold, resource.CondHoldMissing},
		{"the hold is softer", (*bug).soften, resource.CondHoldMissing},
		{"the hold is on another server", (*bug).moveHold, resource.CondHoldMissing},
		{"the server is left out", (*bug).leaveOutServer, resource.CondServerMissing},
		{"the server is in another shard", (*bug).moveServer, ""},
		{"the server's shard is gone", (*bug).loseShard, resource.CondServerMissing},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, seedOf(t), 1, newBroker)
				b := &bug{table: &table{site: s, broker: s.net.(*broker)}}
				defer func() { b.stop() }()
				b.untilSettled("at the beginning", true)
				b.hold = b.place(installed, resource.StopHard)
				b.untilSettled("with the hold", true)
				b.hub.kill()
				row.bug(b)
				b.wait(5 * time.Second)
				b.stays(row.want)
				b.broker.setPolicy(withhold(documents)(nil))
				b.hub.start() // it hears of it, and its documents do not arrive yet
				b.reported(row.want)
				b.stays(row.want)
				b.broker.setPolicy(honest)
				b.settle()
			})
		})
	}
}

func documents(topic string) bool {
	return leaf(message.LeafHold)(topic) || leaf(message.LeafRack)(topic)
}

// bug makes a dead hub's documents wrong: in its ledger, and at the agent.
type bug struct {
	*table
	hold string
}

// stays checks for ten minutes that the hold is enforced, and what is said.
func (b *bug) stays(want resource.ConditionCode) {
	b.t.Helper()
	for range 20 {
		b.wait(30 * time.Second)
		b.book.check()
		if h := b.agent().found().holds[b.hold]; h.Server != installed || h.Mode != resource.StopHard {
			b.t.Errorf("hold %s is %+v at the agent", b.hold, h)
		}
		if p := b.machines[installed].state(); p != protocol.PowerOff {
			b.t.Errorf("%s is held and %s", installed, p)
		}
	}
	for _, c := range []resource.ConditionCode{resource.CondHoldMissing, resource.CondServerMissing} {
		if got := b.agent().says(c); got != (c == want) {
			b.t.Errorf("the agent says %s: %v", c, got)
		}
	}
}

// reported waits until the hub prints the condition.
func (b *bug) reported(want resource.ConditionCode) {
	b.t.Helper()
	if want != "" {
		b.until(string(want)+" at the hub", 5*time.Minute, func() bool {
			return b.has(b.hub.serverConditions(installed), want)
		})
	}
}

// sign gives documents newer versions as the hub would, and sends them.
func (b *bug) sign(docs ...any) {
	st := b.stored(b.hub.disk.Load())
	l, err := st.Ledgers.Get(b.agent().name)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range docs {
		l.Version++
		var leaf string
		switch d := d.(type) {
		case *message.HoldDoc:
			leaf, d.Head.Version = message.LeafHold, l.Version
		case *message.RackDoc:
			leaf, d.Head.Version = fmt.Sprintf("%s/%d", message.LeafRack, d.Shard), l.Version
		}
		body, err := wire.Seal(b.hubSigner, message.TopicDown(b.agent().name, leaf), d)
		if err != nil {
			b.t.Fatal(err)
		}
		l.Sent[leaf] = store.SentDoc{Head: protocol.Head{Epoch: 1, Version: l.Version}, Body: body, Sealed: wire.Digest(body), Digest: "of what the next start compiles otherwise"}
		b.broker.send(delivery{0, message.TopicDown(b.agent().name, leaf), body})
	}
	if err := st.Ledgers.Put(b.ctx, &l); err != nil {
		b.t.Fatal(err)
	}
}

// inForce is a document as the hub sent it last.
func inForce[T any](b *bug, leaf string) *T {
	st := b.stored(b.hub.disk.Load())
	l, err := st.Ledgers.Get(b.agent().name)
	if err != nil {
		b.t.Fatal(err)
	}
	d := new(T)
	if !opens(wire.NewVerifier(b.hubSigner.Public()), message.TopicDown(b.agent().name, leaf), l.Sent[leaf].Body, d) {
		b.t.Fatalf("no %s was sent", leaf)
	}
	return d
}

func (b *bug) leaveOutHold() {
	d := inForce[message.HoldDoc](b, message.LeafHold)
	d.Holds = nil
	b.sign(d)
}

func (b *bug) soften() {
	d := inForce[message.HoldDoc](b, message.LeafHold)
	d.Holds[0].Mode, d.Holds[0].SoftTimeout = resource.StopSoft, protocol.Duration(time.Hour)
	b.sign(d)
}

func (b *bug) moveHold() {
	d := inForce[message.HoldDoc](b, message.LeafHold)
	d.Holds[0].Server = unclaimed
	b.sign(d)
}

// take removes the held server from the only shard.
func (b *bug) take() (rest, taken *message.RackDoc) {
	rest, taken = inForce[message.RackDoc](b, "rack/0"), inForce[message.RackDoc](b, "rack/0")
	held := func(in message.ServerIntent) bool { return in.Server == installed }
	rest.Servers = slices.DeleteFunc(rest.Servers, held)
	taken.Servers = slices.DeleteFunc(taken.Servers, func(in message.ServerIntent) bool { return !held(in) })
	rest.Shards, taken.Shards, taken.Shard, taken.Rack = 2, 2, 1, nil
	return rest, taken
}

func (b *bug) leaveOutServer() {
	rest, _ := b.take()
	rest.Shards = 1
	b.sign(rest)
}

func (b *bug) moveServer() {
	rest, taken := b.take()
	b.sign(rest, taken)
}

func (b *bug) loseShard() {
	rest, taken := b.take()
	b.sign(rest, taken)
	b.wait(time.Second)
	again, _ := b.take()
	again.Servers = slices.DeleteFunc(again.Servers, func(in message.ServerIntent) bool { return in.Server == installed })
	again.Shards = 1
	b.sign(again)
}
