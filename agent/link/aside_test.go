package link

import (
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// incarnation is that of the rig's disk.
func (r *rig) incarnation() string {
	r.t.Helper()
	id, err := r.room.cfg.Store.Identity.Incarnation()
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// stance is whether servers are acted on: serves, aside, ended.
func (r *rig) stance() string {
	r.t.Helper()
	o, err := r.room.cfg.Store.Servers.Overview()
	switch {
	case err != nil:
		r.t.Fatal(err)
	case o.Ended:
		return "ended"
	case o.Aside:
		return "aside"
	}
	return "alone"
}

func (r *rig) want(when, stance string) {
	r.t.Helper()
	if got := r.stance(); got != stance {
		r.t.Errorf("%s: %s, want %s", when, got, stance)
	}
}

var noHeads = map[string]protocol.Head{}

func answer(nonce string) message.Sync { return message.Sync{Heads: noHeads, Nonce: nonce} }

// met is a rig that the hub has answered.
func met(t *testing.T, db *statetest.Memory, run string) *rig {
	r := newRig(t, db, run)
	r.room.Connected(r)
	r.hellos()
	r.answers(answer("n1"))
	return r
}

// The hub's word is obeyed whichever session it comes in, is on disk, and is said back with a self that
// survives restarts. What is played back to an agent that it does not name changes nothing.
func TestStandsAside(t *testing.T) {
	db := statetest.NewMemory()
	r := met(t, db, "a")
	other := message.Sync{Session: "another's", At: r.now, Copied: &message.Copied{Incarnations: []string{"another"}, Kept: &message.Kept{Self: "x", Incarnation: "y"}}}
	r.says(message.LeafSync, other)
	r.want("after a word about others", "alone")
	word := message.Sync{Session: "another's", At: r.now, Copied: &message.Copied{Incarnations: []string{"x", r.incarnation()}}}
	changed := r.heard.changed
	r.says(message.LeafSync, word)
	r.want("after the word", "aside")
	if r.heard.changed == changed || !strings.Contains(r.conditions(), "AgentCopied") {
		t.Errorf("the boot servers do not hear of it, or people: %s", r.conditions())
	}
	h := r.hellos()
	if len(h) != 1 || h[0].Self == "" {
		t.Fatalf("it says %+v", h)
	}
	r.answers(answer("n2"))
	r.want("after an answer that was late", "aside")
	r.says(message.LeafSync, word)
	for i, run := range []string{"b", "c"} {
		r = newRig(t, db, run)
		r.want("after a restart", "aside")
		r.room.Connected(r)
		if next := r.hellos(); len(next) != 1 || next[0].Self != h[0].Self || next[0].Run != run {
			t.Errorf("after a restart it says %+v", next)
		}
		// The hub answers without heads; it may be another start of it.
		r.answers(message.Sync{Nonce: "n3", Fence: message.Fence{Number: uint64(7 + i), Hub: run}, Copied: word.Copied})
		if !r.room.session.isAnswered() {
			t.Error("its session is not answered")
		}
		r.now = r.now.Add(time.Minute)
		if again := r.hellos(); len(again) != 0 {
			t.Errorf("it says Hello on and on: %+v", again)
		}
	}
}

// Of two with one disk the one that is named goes on, and the other never does anything again. A crash at
// any point of it, or a word that comes again, changes nothing of that.
func TestKeptAgentGoesOn(t *testing.T) {
	for _, crash := range []string{"", "before it is written", "after it was written", "before the answer", "after it went on"} {
		t.Run(crash, func(t *testing.T) {
			disk := statetest.NewMemory()
			met(t, disk, "first")
			dbA, dbZ := disk.Copy(), disk.Copy()
			a, z := met(t, dbA, "a"), met(t, dbZ, "z")
			shared := a.incarnation()
			word := message.Sync{At: a.now, Copied: &message.Copied{Incarnations: []string{shared}}}
			for _, r := range []*rig{a, z} {
				r.says(message.LeafSync, word)
			}
			kept := *word.Copied
			kept.Kept = &message.Kept{Self: a.hellos()[0].Self, Incarnation: "chosen"}
			chosen := message.Sync{At: a.now, Copied: &kept}
			if crash == "before it is written" {
				dbA.SetFull(true)
				a.says(message.LeafSync, chosen)
				a.want("on a full disk", "aside")
				dbA.SetFull(false)
				a = newRig(t, dbA, "a2")
				a.room.Connected(a)
			}
			for range 2 {
				a.says(message.LeafSync, chosen)
				z.says(message.LeafSync, chosen)
			}
			a.want("before the hub has answered", "aside")
			z.want("not chosen", "ended")
			if a.incarnation() != "chosen" || z.incarnation() != shared {
				t.Errorf("incarnations %s and %s", a.incarnation(), z.incarnation())
			}
			if crash == "after it was written" || crash == "before the answer" {
				a = newRig(t, dbA, "a3")
				a.room.Connected(a)
				a.want("after a restart", "aside")
			}
			a.now = a.now.Add(time.Minute)
			h := a.hellos()
			if len(h) != 1 || h[0].Incarnation != "chosen" || h[0].Self != "" {
				t.Fatalf("it says %+v", h)
			}
			a.says(message.LeafSync, message.Sync{Session: "before", At: a.now, Heads: noHeads, Nonce: "old"})
			a.want("after an answer to another session", "aside")
			if crash == "before the answer" {
				a.says(message.LeafSync, word) // played back
				a.want("after what was said before", "aside")
			}
			a.answers(answer("n5"))
			a.want("answered", "alone")
			if strings.Contains(a.conditions(), "AgentCopied") {
				t.Errorf("conditions %s", a.conditions())
			}
			if crash == "after it went on" {
				a = met(t, dbA, "a4")
			}
			for _, old := range []message.Sync{word, chosen} {
				a.says(message.LeafSync, old)
			}
			a.want("after all was said once more", "alone")
			z = met(t, dbZ, "z2")
			z.want("after its restart", "ended")
			if !z.room.Over() || !strings.Contains(z.conditions(), string(resource.CondSuperseded)) {
				t.Errorf("the other one: %s", z.conditions())
			}
			z.says(message.LeafSync, word)
			z.want("for ever", "ended")
		})
	}
}

// What cannot be written counts in this run, and is written when it can be.
func TestStandsAsideOnAFullDisk(t *testing.T) {
	db := statetest.NewMemory()
	r := met(t, db, "a")
	db.SetFull(true)
	word := message.Sync{At: r.now, Copied: &message.Copied{Incarnations: []string{r.incarnation()}}}
	r.says(message.LeafSync, word)
	r.want("on a full disk", "aside")
	if h := r.hellos(); len(h) != 1 || h[0].Self != "" {
		t.Errorf("it says %+v", h)
	}
	db.SetFull(false)
	r.says(message.LeafSync, word)
	r.now = r.now.Add(time.Minute)
	if h := r.hellos(); len(h) != 1 || h[0].Self == "" {
		t.Errorf("it says %+v", h)
	}
	newRig(t, db, "b").want("after a restart", "aside")
}

// A disk that is at another place than before waits a moment for word of a copy; one that was started
// again does not, however often.
func TestDiskAtAnotherPlace(t *testing.T) {
	db := statetest.NewMemory()
	at := func(place, run string) *rig { return newRigAt(t, db, run, place) }
	for range 50 {
		at("host-a", "a").want("at the same place", "alone")
	}
	r := at("host-b", "b")
	r.want("at another place", "aside")
	r.room.Connected(r)
	r.hellos()
	r.answers(answer("n1"))
	r.want("answered", "aside")
	r.now = r.now.Add(arriveAlone)
	r.room.arrive()
	r.want("a moment later", "alone")
	at("host-b", "b").want("there again", "alone")
	r = at("host-c", "c")
	r.now = r.now.Add(arriveBlind - time.Second)
	r.room.look()
	r.want("without a hub", "aside")
	r.now = r.now.Add(time.Second)
	r.room.look()
	r.want("without a hub for long", "alone")
}

func TestArrivingTable(t *testing.T) {
	doctable.Of(t, "aside.go", "arrivingRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return map[time.Duration]string{arriveNever: "never", arriveBlind: "blind", 0: "none"}[arrivingRule(in[0] == "yes", in[1] == "yes", in[2] == "yes")]
	})
}

// An agent whose rack has a standby may have been failed over while it did not run: it does only what holds want until the
// hub has answered, for half a minute, or for ever where that failover needed nobody's statement.
func TestStandbyMayHaveTakenOver(t *testing.T) {
	db := statetest.NewMemory()
	r := met(t, db, "a")
	rack := message.RackDoc{Head: protocol.Head{Version: 9}, Agent: "r1-1", Shards: 1, Rack: &message.RackIntent{Name: "r1", Twin: &message.TwinIntent{Agent: "r1-2"}}}
	if _, _, err := r.room.cfg.Store.Documents.ApplyRack(rack, "9", nil); err != nil {
		t.Fatal(err)
	}
	r.want("while it runs", "alone")
	for _, row := range []struct {
		heartbeats bool
		later      string
	}{{false, "alone"}, {true, "aside"}} {
		r = newRigOf(t, db, "b", "", row.heartbeats)
		r.want("started", "aside")
		if !strings.Contains(r.conditions(), "AwaitingHub") {
			t.Errorf("people are told %s", r.conditions())
		}
		r.now = r.now.Add(arriveBlind - time.Second)
		r.room.look()
		r.want("without a hub", "aside")
		r.now = r.now.Add(time.Hour)
		r.room.look()
		r.want("without a hub for long", row.later)
		r = newRigOf(t, db, "c", "", row.heartbeats)
		r.room.Connected(r)
		r.hellos()
		r.answers(message.Sync{Heads: map[string]protocol.Head{"rack/0": rack.Head}, Nonce: "n1"})
		r.want("answered", "aside")
		r.now = r.now.Add(arriveAlone)
		r.room.look()
		r.want("a moment later", "alone")
		if strings.Contains(r.conditions(), "AwaitingHub") {
			t.Errorf("people are told %s", r.conditions())
		}
	}
}

// An agent that is killed at any point of it stands aside, goes on or is over, as it was told, once it is
// started again and told again.
func TestKilledWhileAside(t *testing.T) {
	all := []string{"agent.aside.keep", "agent.aside.kept", "agent.aside.over", "agent.renew.begin", "agent.renew.part", "agent.renew.renewed"}
	passed := map[string]bool{}
	for _, point := range all {
		for _, chosen := range []bool{true, false} {
			db := statetest.NewMemory()
			r := met(t, db, "a")
			shared := r.incarnation()
			word := message.Sync{At: r.now, Copied: &message.Copied{Incarnations: []string{shared}}}
			runs := 0
			// step does it, killed once at the point, until it is done.
			step := func(do func(*rig)) {
				r.dies = point
				if r.lives(func() { do(r) }) {
					return
				}
				passed[point] = true
				point = "" // once
				runs++
				r = newRig(t, db, "again")
				r.room.Connected(r)
				do(r)
			}
			was := point
			step(func(r *rig) { r.says(message.LeafSync, word) })
			r.want(was+": told", "aside")
			r.now = r.now.Add(time.Minute)
			h := r.hellos()
			if len(h) != 1 || h[0].Self == "" {
				t.Fatalf("%s: it says %+v", was, h)
			}
			kept := message.Sync{At: r.now, Copied: &message.Copied{Incarnations: []string{shared}, Kept: &message.Kept{Self: "another", Incarnation: "chosen"}}}
			if chosen {
				kept.Copied.Kept.Self = h[0].Self
			}
			step(func(r *rig) { r.says(message.LeafSync, kept) })
			if !chosen {
				r.want(was+": not chosen", "ended")
				newRig(t, db, "z").want(was+": not chosen, after a restart", "ended")
				point = was
				continue
			}
			step(func(r *rig) {
				r.now = r.now.Add(time.Minute)
				r.hellos()
				r.answers(answer("n9"))
			})
			r.want(was+": answered", "alone")
			if r.incarnation() != "chosen" {
				t.Errorf("%s: incarnation %s", was, r.incarnation())
			}
			newRig(t, db, "z").want(was+": after a restart", "alone")
			point = was
		}
	}
	for _, point := range all {
		if !passed[point] {
			t.Errorf("%s is never passed", point)
		}
	}
}
