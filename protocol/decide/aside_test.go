package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestCopiedTable(t *testing.T) {
	doctable.Of(t, "aside.go", "copiedRule").HoldOne(t, [][]string{doctable.Words(AsideStandings()...), doctable.YesNo(), doctable.Words(whomNone, whomSelf, whomOther)},
		func(in []string) string { return string(copiedRule(AsideStanding(in[0]), in[1] == "yes", whom(in[2]))) })
}

// twin is an agent as the state machine sees it: its disk, which a restart does not change.
type twin struct {
	incarnation string
	aside       Aside
}

// hears does what OnCopied says.
func (w twin) hears(m message.Copied, self string) twin {
	switch OnCopied(m, w.incarnation, w.aside) {
	case AsideNothing:
	case AsideStand:
		w.aside = Aside{Incarnation: w.incarnation, Self: self}
	case AsideTake:
		w.incarnation, w.aside = m.Kept.Incarnation, Aside{Incarnation: m.Kept.Incarnation, Taken: true}
	case AsideGiveUp:
		w.aside = Aside{Incarnation: w.incarnation, Superseded: true}
	}
	return w
}

// answered is that the hub has answered it.
func (w twin) answered() twin {
	if w.aside.Standing(w.incarnation) == AsideTaken {
		w.aside = Aside{}
	}
	return w
}

func (w twin) acts() bool { return w.aside.Standing(w.incarnation) == AsideNone }

// Whatever of the hub's words comes, in whatever order and however often: of two that both heard of the
// copy none acts before somebody has said which goes on, never both act after, and the one that was
// chosen first can always go on.
func TestCopiedWalks(t *testing.T) {
	copied := message.Copied{Incarnations: []string{"i"}}
	keepA := message.Copied{Incarnations: []string{"i"}, Kept: &message.Kept{Self: "a", Incarnation: "j"}}
	keepB := message.Copied{Incarnations: []string{"i", "j"}, Kept: &message.Kept{Self: "b", Incarnation: "k"}} // another choice, after that
	words := []message.Copied{copied, keepA, keepB}
	type state struct {
		a, b twin
		said int // of words
	}
	start := state{a: twin{incarnation: "i"}.hears(copied, "a"), b: twin{incarnation: "i"}.hears(copied, "b"), said: 1}
	seen, todo := map[state]bool{start: true}, []state{start}
	first := false
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		if s.a.acts() && s.b.acts() {
			t.Fatalf("both act: %+v", s)
		}
		if s.said == 1 && (s.a.acts() || s.b.acts()) {
			t.Fatalf("one acts before it was chosen: %+v", s)
		}
		if s.said == 2 && s.b.acts() {
			t.Fatalf("the one that was not chosen acts: %+v", s)
		}
		first = first || s.said == 2 && s.a.acts()
		next := func(n state) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
		if s.said < len(words) && !s.a.acts() { // the hub takes no other choice after that
			next(state{s.a, s.b, s.said + 1})
		}
		for _, m := range words[:s.said] { // also what was said before, once more
			next(state{s.a.hears(m, "a2"), s.b, s.said})
			next(state{s.a, s.b.hears(m, "b2"), s.said})
		}
		// The hub answers the incarnation that it chose last, and none that it named as shared.
		for _, w := range []twin{s.a, s.b} {
			if m := words[s.said-1]; m.Kept == nil || w.incarnation != m.Kept.Incarnation || slices.Contains(m.Incarnations, w.incarnation) {
				continue
			}
			if w == s.a {
				next(state{s.a.answered(), s.b, s.said})
			} else {
				next(state{s.a, s.b.answered(), s.said})
			}
		}
	}
	if !first {
		t.Error("nobody ever goes on")
	}
	// An agent that never shared its disk with another hears nothing that concerns it.
	for _, m := range words {
		if lone := (twin{incarnation: "x"}).hears(m, "s"); !lone.acts() {
			t.Errorf("%+v makes an agent stand aside that it does not name", m)
		}
	}
}

// An agent that stands aside does what holds want, whatever else lies before it.
func TestAsideOrdersForHoldsOnly(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	hold := []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{Server: "n1", HoldTerms: resource.HoldTerms{Mode: resource.StopHard, TTL: protocol.Duration(time.Second)}}}, EnforcedAt: now.Add(-time.Hour)}}
	for _, power := range []protocol.PowerState{protocol.PowerOn, protocol.PowerOff, protocol.PowerUnreachable, protocol.PowerUnknown} {
		for _, held := range []bool{false, true} {
			for _, work := range []bool{false, true} {
				for _, want := range []resource.Power{resource.WantOn, resource.WantOff, ""} {
					s := Snapshot{
						Server: "n1", Synced: true, Aside: true, HubTime: now, Incarnation: "i", Settings: Settings{SettleWindow: time.Second, PollInterval: time.Minute},
						Intent:      &message.ServerIntent{Server: "n1", Power: want, Owner: resource.Owner{UID: "u"}, PowerCycle: true},
						Requests:    []resource.Request{{ID: "q", Server: "n1", Action: resource.RequestReboot, Incarnation: "i", NotAfter: now.Add(time.Hour), AnyPhase: true}},
						Observation: &protocol.Observation{Power: power, StartedAt: now, ReadAt: now},
						Record:      Record{Server: "n1"}, NewID: "a", NewToken: "t", NewMedium: "m",
					}
					if held {
						s.Holds = hold
						s.Record.Holds.Receipts = map[string]resource.Receipt{"h": {HoldID: "h"}}
					}
					if work {
						s.Firmware = &resource.FirmwareWork{NotAfter: now.Add(time.Hour)}
					}
					for i := range 5 {
						plan := Step(now.Add(time.Duration(i)*time.Minute), s)
						k := plan.Action.Kind
						may := held && !work && k == ActForceOff && (power == protocol.PowerOn || power == protocol.PowerUnknown)
						if k != ActNone && !may || k == ActNone && i == 0 && held && !work && power == protocol.PowerOn {
							t.Errorf("%s, held %t, work %t, wants %s: %s", power, held, work, want, k)
						}
						if len(plan.Expire) > 0 || len(plan.Record.Holds.Receipts) > 0 || len(plan.Record.Requests) > 0 || plan.Record.Attempt != nil {
							t.Errorf("%s, held %t: it expires, proves, accepts or begins: %+v", power, held, plan)
						}
						s.Record, s.Watch = plan.Record, plan.Watch
						s.Observation = &protocol.Observation{Power: power, StartedAt: now.Add(time.Duration(i+1) * time.Minute), ReadAt: now.Add(time.Duration(i+1) * time.Minute)}
					}
				}
			}
		}
	}
}
