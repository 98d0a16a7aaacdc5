package faults

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/integration/parallel"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestFaultTable: every fault in turn, over MQTT, while people place and release
// holds, ask for reboots and claim. Nothing is lost, nothing is done twice or
// backwards; what cannot be hidden is said, and not longer than it is so.
func TestFaultTable(t *testing.T) {
	seed := seedOf(t)
	for _, row := range []struct {
		name  string
		fault func(*table)
	}{
		{"hub-killed", hubKilled},
		{"agent-killed", agentKilled},
		{"broker-killed", brokerKilled},
		{"partition", partition},
		{"duplicates", duplicates},
		{"loss", loss},
		{"reordering", reordering},
		{"delay", delay},
		{"agent-disk-rolled-back", agentDiskRolledBack},
		{"agent-disk-lost", agentDiskLost},
		{"hub-store-rolled-back", hubStoreRolledBack},
		{"two-hubs", twoHubs},
		{"two-hubs-of-one-number", twoHubsOfOneNumber},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, seed, max(1, brief(2)), newBroker)
				b := &table{site: s, broker: s.net.(*broker)}
				defer func() { b.stop(b.more...) }()
				b.untilSettled("at the beginning", true)
				row.fault(b)
				b.note("the fault ends")
				b.settle()
				b.t.Logf("%+v", b.book.seen)
			})
		})
	}
}

// table is a site for one row.
type table struct {
	*site
	broker *broker
	more   []*hub
}

// live lets people do something every 15 s on average.
func (b *table) live(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && !b.t.Failed(); {
		b.somebody()
		b.wait(b.random(30 * time.Second))
		b.book.check()
	}
}

func (b *table) agent() *agent { return b.agents[0] }

// outages are how long something is away: often shortly, sometimes for hours.
func (b *table) outages() []time.Duration {
	return []time.Duration{b.random(10 * time.Second), b.random(3 * time.Minute), 20*time.Minute + brief(b.random(3*time.Hour))}
}

// brief is a quarter of what is to be done where time is dear.
func brief[T ~int | ~int64](d T) T {
	if parallel.Short() || raceEnabled {
		return d / 4
	}
	return d
}

// long is an outage that must be seen at both ends.
const long = message.SyncValid + time.Minute

// hears says whether the hub's word is fresh at the agent, as it must be or not be
// after an outage.
func (b *table) unverified(d time.Duration) {
	b.t.Helper()
	if d > long && !b.agent().says(resource.CondHubUnverified) {
		b.t.Errorf("the agent heard nothing for %s and does not say %s", d, resource.CondHubUnverified)
	}
}

func (b *table) dark(d time.Duration) {
	b.t.Helper()
	if d > time.Minute && !b.has(b.hub.agentConditions(b.agent().name), resource.CondDark) {
		b.t.Errorf("the hub heard nothing for %s and does not say %s", d, resource.CondDark)
	}
}

func hubKilled(b *table) {
	for _, d := range b.outages() {
		b.live(2 * time.Minute)
		b.hub.fuse.Store(1 + b.rng.Int64N(4))
		b.live(time.Minute)
		b.hub.kill()
		b.note("the hub is dead for %s", d)
		b.live(d)
		b.unverified(d)
		b.hub.start()
	}
}

func agentKilled(b *table) {
	a := b.agent()
	for _, d := range b.outages() {
		b.live(2 * time.Minute)
		a.fuse.Store(1 + b.rng.Int64N(8))
		b.live(time.Minute)
		a.kill()
		b.note("the agent is dead for %s", d)
		b.live(d)
		b.dark(d)
		a.start()
	}
}

func brokerKilled(b *table) {
	for _, d := range b.outages() {
		b.live(2 * time.Minute)
		b.note("the broker is dead for %s", d)
		b.broker.kill()
		b.live(d)
		b.dark(d)
		b.unverified(d)
		b.broker.start()
	}
}

func partition(b *table) {
	a := b.agent()
	for i, who := range [][]string{{a.name}, {b.hub.name}, {a.name, b.hub.name}} {
		for j, d := range b.outages() {
			if i != j && brief(4) == 1 {
				continue
			}
			b.live(2 * time.Minute)
			b.note("%v cut off for %s", who, d)
			for _, name := range who {
				b.net.cut(name)
			}
			b.live(d)
			b.dark(d)
			b.unverified(d)
			for _, name := range who {
				b.net.heal(name)
			}
		}
	}
}

// meanwhile sets a policy for half an hour at most.
func (b *table) meanwhile(p func(r *rand.Rand, topic string, payload []byte) []delivery) {
	b.broker.setPolicy(seeded(b.rng.Uint64(), p))
	b.live(brief(30 * time.Minute))
	b.broker.setPolicy(honest)
}

func duplicates(b *table) {
	b.meanwhile(func(r *rand.Rand, topic string, payload []byte) (out []delivery) {
		out = honest(topic, payload)
		for range r.IntN(4) {
			out = append(out, delivery{time.Duration(r.Int64N(int64(20 * time.Second))), topic, payload})
		}
		return out
	})
}

func loss(b *table) {
	b.meanwhile(func(r *rand.Rand, topic string, payload []byte) []delivery {
		if r.IntN(10) < 3 {
			return nil
		}
		return honest(topic, payload)
	})
}

func reordering(b *table) {
	b.meanwhile(func(r *rand.Rand, topic string, payload []byte) []delivery {
		return []delivery{{time.Duration(r.Int64N(int64(3 * time.Second))), topic, payload}}
	})
}

func delay(b *table) {
	b.meanwhile(func(r *rand.Rand, topic string, payload []byte) []delivery {
		return []delivery{{5*time.Second + time.Duration(r.Int64N(int64(25*time.Second))), topic, payload}}
	})
}

func agentDiskRolledBack(b *table) {
	a := b.agent()
	for i := range 3 {
		b.live(2 * time.Minute)
		b.booting()
		old := a.disk.Load().Copy()
		b.note("the agent's disk is copied")
		if i < 2 {
			b.live(10 * time.Minute)
		} else {
			b.wait(10 * time.Minute) // no document is newer than the old disk's: events tell
		}
		b.changeDisk(old, i > 0)
	}
}

func agentDiskLost(b *table) {
	for i := range 3 {
		b.booting()
		b.live(10 * time.Minute)
		b.changeDisk(statetest.NewMemory(), i == 1)
	}
}

// booting sees to it that a new claim's first boot is between two attempts, and that
// nobody stops it.
func (b *table) booting() {
	b.spared = ""
	for _, h := range b.hub.store.Holds.On(claimed) {
		b.release(h.Metadata.Name)
	}
	gone := func() bool { return b.hub.store.Claims.Of(claimed) == nil }
	if !gone() {
		b.claim(claimed)
		b.until("the end of the claim", 10*time.Minute, gone)
	}
	b.claim(claimed)
	b.spared = claimed
	b.wait(7 * time.Minute)
}

// changeDisk gives the agent another disk, of which the hub must take note; first
// the agent may be alone with it for a while.
func (b *table) changeDisk(disk *statetest.Memory, alone bool) {
	b.t.Helper()
	a := b.agent()
	was := a.found().incarnation
	renewed := b.events(resource.EventRenewed)
	b.note("the agent's disk is exchanged")
	a.kill()
	a.swap(disk)
	b.wait(b.random(5 * time.Minute))
	if alone {
		b.net.cut(a.name)
	}
	a.start()
	if alone {
		for range 40 { // the disk fills up with events again
			b.machines[unclaimed].button()
			b.wait(40 * time.Second)
		}
		b.net.heal(a.name)
	}
	b.until("another incarnation", 5*time.Minute, func() bool { return a.found().incarnation != was })
	b.until("the event "+string(resource.EventRenewed), 5*time.Minute, func() bool { return b.events(resource.EventRenewed) > renewed })
}

func (b *table) events(code resource.EventCode) (n int) {
	for _, e := range b.hub.control.Events.After(0, 100_000) {
		if e.Code == code {
			n++
		}
	}
	return n
}

// A hub whose store is an old copy gives nobody anything until the operator has
// raised the epoch.
func hubStoreRolledBack(b *table) {
	for range 2 {
		b.live(5 * time.Minute)
		old := b.hub.disk.Load().Copy()
		b.note("the hub's store is copied")
		b.live(5 * time.Minute)
		b.place(unclaimed, resource.StopHard)
		b.wait(time.Minute)
		b.rollBackHub(old)
		b.until("HubBehind at the hub", 5*time.Minute, func() bool {
			return b.has(b.hub.agentConditions(b.agent().name), resource.CondHubBehind)
		})
		before := b.agent().found().heads
		b.live(10 * time.Minute)
		for doc, head := range b.agent().found().heads {
			if head != before[doc] {
				b.t.Errorf("the hub is behind, and %s went from %v to %v", doc, before[doc], head)
			}
		}
		b.hub.kill()
		b.hub.raiseEpoch()
		b.hub.start()
		b.untilSettled("after the epoch was raised", false)
	}
}

// twoHubs starts a second hub on a copy of the first one's store. The first one
// sees it in what the agents sign, and steps down.
func twoHubs(b *table) {
	b.live(5 * time.Minute)
	first := b.hub
	b.more = append(b.more, first)
	b.note("a second hub on a copy")
	b.hub = b.newHub("hub2", first.disk.Load().Copy())
	b.hub.start()
	b.live(10 * time.Minute)
	if !b.has(first.agentConditions(b.agent().name), resource.CondTwoHubs) {
		b.t.Errorf("the hub that lost does not say %s", resource.CondTwoHubs)
	}
	b.stepsDown(first)
	first.kill()
}

// stepsDown checks that a hub sends nothing any more, whatever is in its store.
func (b *table) stepsDown(first *hub) {
	b.t.Helper()
	_, err := first.store.Holds.Create(b.ctx, storeHold("late", unclaimed))
	if err != nil {
		b.t.Fatal(err)
	}
	b.wait(2 * time.Minute)
	for id, h := range b.agent().found().holds {
		if h.Key == "late" {
			b.t.Errorf("hold %s of the hub that lost is enforced", id)
		}
	}
}

// twoHubsOfOneNumber starts two hubs on two copies of one store: they take the
// same number, and the agents follow the one that they heard first.
func twoHubsOfOneNumber(b *table) {
	b.live(5 * time.Minute)
	b.hub.kill()
	other := b.newHub("hub2", b.hub.disk.Load().Copy())
	b.hub.start()
	b.untilSettled("after the restart", false)
	b.more = append(b.more, other)
	b.note("a second hub of the same number")
	other.start()
	b.until("TwoHubs at the hub that lost", 5*time.Minute, func() bool {
		return b.has(other.agentConditions(b.agent().name), resource.CondTwoHubs)
	})
	b.live(10 * time.Minute)
	b.stepsDown(other)
	other.kill()
}
