package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// unrecordedWorld is one server, its agent, a store that comes and goes, and a guard set that never
// has fewer holds than the store.
type unrecordedWorld struct {
	t     *rapid.T
	now   time.Time
	power protocol.PowerState

	// On disk.
	record   Record
	held     []Hold // in the store
	coming   []Hold // in the guard set only
	spent    int    // servers that were forced off within the bound
	released map[string]bool
	proved   []string // in the guard set

	// In memory.
	up      bool // the store takes writes
	frozen  bool // it is made of the guard set
	watch   Watch
	overlay Overlay
	owed    bool // the overlay is to be folded

	ended  bool
	stands bool     // by, for another agent
	taken  []string // over from agents whose holds are not known
	ons    *int     // orders to switch on, of all worlds
	work   bool
	bound  int
	n      int
}

func (w *unrecordedWorld) snapshot() Snapshot {
	s := Snapshot{
		Server: "n1", Synced: !w.stands, Ended: w.rests(), TakenOver: w.taken, Intent: w.intent(), Artefacts: Artefacts{Local: true}, Chain: ukiChain(), Holds: slices.Clone(w.held), Record: w.record, Watch: w.watch,
		Settings: Settings{SoftTimeout: 30 * time.Second, SettleWindow: 5 * time.Second, PollInterval: 10 * time.Second}, HubTime: w.now,
		NewID: fmt.Sprint("id", w.n), NewToken: fmt.Sprint("token", w.n), NewMedium: fmt.Sprint("medium", w.n),
		Bulk: Bulk{Key: w.bound > 0, Bound: w.bound, Others: w.spent, Window: time.Hour},
	}
	if w.work {
		s.Firmware = &resource.FirmwareWork{NotAfter: w.now.Add(time.Hour)}
	}
	return s
}

// rests is what store.View says: an agent whose term is over, or that stands by, neither reads nor orders anything.
func (w *unrecordedWorld) rests() bool { return w.ended || w.stands }

// intent is a claim whose server was installed, and is to run.
func (w *unrecordedWorld) intent() *message.ServerIntent {
	return &message.ServerIntent{
		Server: "n1", UID: "uid-1", Owner: resource.Owner{Name: "c", UID: "claim-1"}, Power: resource.WantOn,
		Boot: &message.BootIntent{Owner: resource.Owner{UID: "claim-1"}, GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{
			BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd},
			Image:      resource.Image{Digest: "sha256:image", Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:uki"}}},
		}}},
	}
}

// turn is what a loop does: a step where the store takes it, else what guarding does.
func (w *unrecordedWorld) turn() {
	w.n++
	if w.rests() {
		w.resting()
		return
	}
	read := protocol.Observation{Power: w.power, StartedAt: w.now, ReadAt: w.now}
	if !w.up {
		w.guards(&read)
		return
	}
	if w.owed {
		s := w.snapshot()
		s.Overlay, s.Passive = &w.overlay, true
		p := Step(w.now, s)
		if p.Action.Kind != ActNone {
			w.t.Fatalf("folding orders %s", p.Action.Kind)
		}
		if len(p.Record.Holds.Receipts) != 0 {
			w.t.Fatalf("proofs outlive guard mode: %+v", p.Record.Holds.Receipts)
		}
		for _, h := range w.held {
			if w.overlay.Ran != nil && !h.EnforcedAt.After(w.overlay.Ran.StartedAt) && w.record.Shown.Power == protocol.PowerOff && !w.ended {
				if _, violated := p.Record.Holds.Violated[h.ID]; !violated {
					w.t.Fatalf("it ran in guard mode after it was off, and hold %s is not violated", h.ID)
				}
			}
		}
		if w.overlay.Sent > 0 && !slices.ContainsFunc(p.Happened, func(e resource.Event) bool { return e.Code == resource.EventOrdered }) {
			w.t.Fatal("what was sent is not said")
		}
		w.take(p)
		w.overlay, w.owed = Overlay{}, false
	}
	s := w.snapshot()
	s.Observation = &read
	p := Step(w.now, s)
	w.take(p)
	switches := p.Action.Kind == ActOn || p.Action.Kind == ActArm || p.Action.Kind == ActRestart
	if len(w.taken) > 0 && switches {
		w.t.Fatalf("%s of a server that the agent before may hold", p.Action.Kind)
	}
	if switches {
		*w.ons++
	}
	if len(w.held) > 0 && (p.Action.Kind == ActOn || p.Action.Kind == ActArm || p.Action.Kind == ActRestart) {
		w.t.Fatalf("%s of a held server", p.Action.Kind)
	}
	if p.Action.Kind == ActForceOff {
		w.power = protocol.PowerOff
	}
	w.proved = nil
	for id := range w.record.Holds.Receipts {
		w.proved = append(w.proved, id)
	}
}

func (w *unrecordedWorld) take(p Plan) {
	w.record, w.watch = p.Record, p.Watch
	if p.Cleared.How == ClearCount {
		w.spent++
	}
}

// resting is the turn of an agent that rests. Its loop reads nothing; if it did all the same, nothing would be sent, with
// its store and without.
func (w *unrecordedWorld) resting() {
	s := w.snapshot()
	s.Holds, s.Observation = slices.Concat(w.held, w.coming), &protocol.Observation{Power: w.power, StartedAt: w.now, ReadAt: w.now}
	if out := StopUnrecorded(w.now, s.Synced, s, w.overlay); out.Action != ActNone {
		w.t.Fatalf("%s by an agent that rests", out.Action)
	}
	if !w.up {
		return
	}
	if p := Step(w.now, s); p.Action.Kind != ActNone {
		w.t.Fatalf("%s by an agent that rests", p.Action.Kind)
	}
}

func (w *unrecordedWorld) guards(read *protocol.Observation) {
	s := w.snapshot()
	s.Holds, s.Observation = slices.Concat(w.held, w.coming), read
	if w.frozen {
		s.Record = Record{Server: "n1", Holds: Holds{Receipts: map[string]resource.Receipt{}}}
		for _, id := range w.proved {
			s.Record.Holds.Receipts[id] = resource.Receipt{HoldID: id}
		}
		s.Bulk.Others = max(s.Bulk.Others, s.Bulk.Bound)
	}
	was := w.overlay
	out := StopUnrecorded(w.now, true, s, was)
	w.overlay = out.Overlay
	runs := runsNow(w.power)
	switch out.Action {
	case ActNone:
	case ActForceOff:
		if w.ended || w.work || len(s.Holds) == 0 || !runs {
			w.t.Fatalf("forced off: ended %t, work %t, %d holds, %s", w.ended, w.work, len(s.Holds), w.power)
		}
		if was.Tries > 0 && w.now.Sub(was.Forced) < resendForce {
			w.t.Fatalf("again after %s", w.now.Sub(was.Forced))
		}
		w.power = protocol.PowerOff
	default:
		w.t.Fatalf("%s without a record", out.Action)
	}
	// A hard hold without a bound is kept as soon as it is read, unless ForceOff was just sent.
	hard := slices.ContainsFunc(s.Holds, func(h Hold) bool { return h.Mode == resource.StopHard })
	just := was.Tries > 0 || s.Record.Stop != nil && !s.Record.Stop.Forced.IsZero() && was.Off.Before(s.Record.Stop.Forced)
	if runs && hard && !w.ended && !w.work && w.bound == 0 && !just && out.Action != ActForceOff {
		w.t.Fatalf("a held server runs on: %+v", out)
	}
}

func (w *unrecordedWorld) fails(frozen bool) {
	if w.up {
		w.owed = true
	}
	w.up, w.frozen = false, frozen
}

// TestGuardModeProperty: whatever the store, the server and people do, and wherever the process
// ends: in guard mode nothing but ForceOff of a held server is ever sent; it is sent where nothing
// refuses it; a release is never lost; and what was proved before is void after it. An agent that stands by sends nothing at
// all; it takes over only where it can record that, and switches nothing on then until that is settled.
func TestGuardModeProperty(t *testing.T) {
	ons := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &unrecordedWorld{
			ons: &ons, stands: rapid.Bool().Draw(t, "stands by"),
			t: t, now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), power: rapid.SampledFrom([]protocol.PowerState{protocol.PowerOn, protocol.PowerOff}).Draw(t, "power"), up: true, released: map[string]bool{},
			bound: rapid.IntRange(0, 1).Draw(t, "bound"),
		}
		w.record.Owners.Provisioned = provisionedBy("claim-1")
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
			switch rapid.SampledFrom([]string{"read", "read", "on", "on", "on", "away", "full", "full", "frozen", "back", "crash", "hold", "hold", "release", "work", "ended", "failover", "failover", "failover", "settle"}).Draw(t, "step") {
			case "read":
			case "on":
				w.power = protocol.PowerOn
			case "away":
				w.power = protocol.PowerUnreachable
			case "full":
				w.fails(w.frozen && !w.up)
			case "frozen":
				w.fails(true)
			case "back":
				if !w.up { // what came is enforced first
					w.held, w.coming = slices.Concat(w.held, w.coming), nil
				}
				w.up, w.frozen = true, false
			case "crash": // memory is gone; a store that does not open is frozen
				w.watch, w.overlay = Watch{}, Overlay{}
				w.owed = !w.up
				w.frozen = !w.up
				if w.up { // agent/link and the next run void what an earlier run proved
					w.record.Holds.Receipts = nil
				}
			case "hold":
				w.n++
				mode := rapid.SampledFrom([]resource.StopMode{resource.StopSoft, resource.StopHard}).Draw(t, "mode")
				h := Hold{ActiveHold: resource.ActiveHold{ID: fmt.Sprint("h", w.n), HoldSpec: resource.HoldSpec{Server: "n1", HoldTerms: resource.HoldTerms{Key: fmt.Sprint(w.n), Mode: mode}}}, EnforcedAt: w.now}
				if w.up {
					w.held = append(w.held, h)
				} else {
					w.coming = append(w.coming, h)
				}
			case "release":
				if w.up && len(w.held) > 0 {
					w.released[w.held[0].ID] = true
					w.held = w.held[1:]
				} // else it is refused, and comes again
			case "work":
				w.work = !w.work
			case "failover":
				if w.stands && w.up { // else the hub refuses it, or the agent cannot keep the document
					w.stands, w.taken = false, []string{"r1-1"}
				}
			case "settle":
				if w.up {
					w.taken = nil
				}
			case "ended":
				w.ended = rapid.Bool().Draw(t, "is")
			}
			w.turn()
			for _, h := range slices.Concat(w.held, w.coming) {
				if w.released[h.ID] {
					t.Fatalf("hold %s was released, and lies", h.ID)
				}
			}
		}
	})
	if ons == 0 {
		t.Error("no agent ever switched a server on")
	}
}
