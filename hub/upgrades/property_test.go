package upgrades

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// points are where a hub may die between two writes.
func points() []string {
	return []string{"hub.upgrade.begun", "hub.upgrade.stepped", "hub.upgrade.ordered", "hub.upgrade.heard", "hub.upgrade.superseded"}
}

// phase is that of an upgrade's roll-out; empty before it has begun.
func (w *world) phase(name string) resource.RolloutPhase {
	u, err := store.Peek[*resource.AgentUpgrade](w.store.Objects, name)
	if err != nil || u.Status.Rollout == nil {
		return ""
	}
	return u.Status.Rollout.Phase
}

// watched takes a turn, and says what promise it broke. most is how many racks may have an open order of one upgrade.
func (w *world) watched(t fatal, most int) error {
	was := map[string]*resource.AgentOrder{}
	for _, r := range w.robots {
		was[r.name] = w.told(r.name)
	}
	still := map[string]bool{}
	for _, u := range store.List[*resource.AgentUpgrade](w.store.Objects) {
		p := w.phase(u.Metadata.Name)
		still[u.Metadata.Name] = p == resource.RolloutPaused || p == resource.RolloutAborted || p == resource.RolloutSuperseded || p == resource.RolloutFailed
	}
	w.turn(t)
	open := map[string]map[string]bool{}
	for _, r := range w.robots {
		o := w.told(r.name)
		if o.Open() {
			if open[o.Upgrade] == nil {
				open[o.Upgrade] = map[string]bool{}
			}
			open[o.Upgrade][r.rack] = true
		}
		before := was[r.name]
		if o == nil || before != nil && before.ID == o.ID {
			continue
		}
		if before.Open() && w.stored(r.name, before.ID) {
			return fmt.Errorf("two: %s has an order while %s is open", r.name, before.ID)
		}
		if w.orders[r.name+o.ID] {
			return fmt.Errorf("again: %s is given %s twice", r.name, o.ID)
		}
		w.orders[r.name+o.ID] = true
		if still[o.Upgrade] {
			return fmt.Errorf("still: %s is given an order of %s, which is paused or over", r.name, o.Upgrade)
		}
		if _, err := store.Peek[*resource.AgentUpgrade](w.store.Objects, o.Upgrade); err != nil {
			return fmt.Errorf("gone: %s is given an order of %s, which was deleted", r.name, o.Upgrade)
		}
		if s := w.robot("s" + r.rack[1:]); r.active && s.name != "" && w.now.Sub(s.lastAt) <= reports.DarkAfter && o.Kind == resource.AgentOrderUpgrade && (s.runs != w.holds[o.Package] || s.stage == message.UpgradeTrial) {
			return fmt.Errorf("first: %s is ordered before who stands by for it", r.name)
		}
	}
	for name, racks := range open {
		if len(racks) > most {
			return fmt.Errorf("room: %d racks have open orders of %s", len(racks), name)
		}
	}
	return nil
}

// stored reports whether an order was still open when the next was given: a turn hears of ends first.
func (w *world) stored(agent, id string) bool {
	r := w.robot(agent)
	return (r.order != id || !r.stage.Ended()) && !w.now.After(r.lastAt.Add(overdue))
}

func (w *world) say(t fatal, name string, c api.RolloutCommand) {
	t.Helper()
	_, _ = w.room.CommandUpgrade(context.Background(), name, api.RolloutRequest{Command: c, Reason: "to see"}, "ann") // some are refused
}

// Whatever agents, people and hubs that die do: an agent has one order at a time, each once, who stands by is first, no
// more racks than allowed are under way, and nothing is ordered of what is paused or over. A sound release reaches all.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 4).Draw(t, "racks"))
		bad := rapid.SampledFrom([]int{0, 0, 4}).Draw(t, "bad")
		trouble, people := rapid.Bool().Draw(t, "trouble"), rapid.Bool().Draw(t, "people")
		failure := rapid.SampledFrom([]resource.RolloutFailure{resource.OnFailurePause, resource.OnFailureRollback}).Draw(t, "onFailure")
		for _, r := range w.robots {
			r.bad = w.rnd.IntN(10) < bad
		}
		w.upgrade(t, "up", w.next, func(u *resource.AgentUpgrade) {
			u.Spec.Rollout.OnFailure, u.Spec.Rollout.MaxUnavailable = failure, "1"
		})
		aborted := false
		for i := range 500 {
			calm := i > 150
			if !calm && trouble {
				r := w.robots[w.rnd.IntN(len(w.robots))]
				switch w.rnd.IntN(10) {
				case 0:
					r.silent = true
				case 1, 2:
					r.silent = false
				case 3:
					w.crash = points()[w.rnd.IntN(len(points()))]
				case 4:
					w.here = !w.here
				}
			}
			if !calm && people {
				switch w.rnd.IntN(60) {
				case 0, 1:
					w.say(t, "up", api.RolloutPause)
				case 2, 3, 4:
					w.say(t, "up", api.RolloutResume)
				case 5:
					w.say(t, "up", api.RolloutNext)
				case 6:
					w.say(t, "up", api.RolloutAbort)
					aborted = aborted || w.phase("up") == resource.RolloutAborted
				}
			}
			if calm {
				w.crash, w.here = "", true
				for _, r := range w.robots {
					r.silent = false
				}
				if bad == 0 && i%40 == 0 {
					w.say(t, "up", api.RolloutResume)
				}
			}
			if err := w.watched(t, 1); err != nil {
				t.Fatalf("minute %d: %v", i/2, err)
			}
			w.live()
		}
		if bad > 0 || aborted || failure == resource.OnFailureRollback && trouble {
			return
		}
		for _, r := range w.robots {
			if !r.active && trouble {
				continue // one that was silent when its rack had its turn stays behind
			}
			if r.runs != w.holds[w.next] {
				t.Fatalf("%s does not run it: %s, %+v", r.name, w.phase("up"), w.told(r.name))
			}
		}
		if p := w.phase("up"); p != resource.RolloutCompleted {
			t.Fatalf("all run it, and it is %s", p)
		}
	})
}

// until takes turns until something is so.
func (w *world) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 400 {
		if so() {
			return
		}
		if err := w.watched(t, 1); err != nil {
			t.Fatal(err)
		}
		w.live()
	}
	t.Fatalf("never: %s; %s", what, w.phase("up"))
}

// The hub dies between each two writes, and what it began is completed with one order for each agent.
func TestCrashes(t *testing.T) {
	for _, point := range points()[:4] {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t, 7, 3)
			w.upgrade(t, "up", w.next, nil)
			w.crash = point
			w.until(t, "it is complete", func() bool { return w.phase("up") == resource.RolloutCompleted })
			if w.crash != "" || len(w.orders) != len(w.robots) {
				t.Errorf("the hub died: %t; %d orders to %d agents", w.crash == "", len(w.orders), len(w.robots))
			}
		})
	}
}

// A release that fails at its canary is taken back where that was asked for, and reaches nobody else.
func TestRollback(t *testing.T) {
	w := newWorld(t, 7, 3)
	for _, r := range w.robots {
		r.bad = true
	}
	w.upgrade(t, "up", w.next, func(u *resource.AgentUpgrade) { u.Spec.Rollout.OnFailure = resource.OnFailureRollback })
	w.until(t, "it has failed", func() bool {
		return w.phase("up") == resource.RolloutRolledBack || w.phase("up") == resource.RolloutPaused
	})
	for _, r := range w.robots {
		if r.runs != w.holds[w.old] {
			t.Errorf("%s runs %s", r.name, r.runs)
		}
	}
	if len(w.orders) != 1 {
		t.Errorf("%d orders", len(w.orders))
	}
	if conds := w.room.conds.Of("up"); len(conds) == 0 || conds[0].Code != resource.CondAgentUpgradeFailed {
		t.Errorf("conditions %+v", conds)
	}
}

// A rack follows the newest upgrade that selects it; one that is deleted orders nothing more.
func TestNewestWins(t *testing.T) {
	w := newWorld(t, 7, 2)
	w.upgrade(t, "up", w.next, nil)
	w.turn(t)
	w.now = w.now.Add(1e9)
	w.upgrade(t, "back", w.old, nil)
	w.until(t, "the older is superseded", func() bool { return w.phase("up") == resource.RolloutSuperseded })
	w.until(t, "the newer is complete", func() bool { return w.phase("back") == resource.RolloutCompleted })
	for _, r := range w.robots {
		if o := w.told(r.name); r.runs != w.holds[w.old] || o.Open() {
			t.Errorf("%s runs %s, %+v", r.name, r.runs, o)
		}
	}
}

// Texts of agents are cut between characters.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcdef": "abcd", "abcé": "abc", "abé": "abé"} {
		if got := cut(text, 4); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
