//go:build !race

package link

// The model of several hubs on one store: two hubs, a rack with one agent, a hold, a claim with its grant.
//
// The store is a log of commits that compare; each hub's mirror comes along it at its own pace, or stands still. Messages come late,
// twice, in another order or never. Hubs and the agent crash and start again, and a hub may not hear that a commit of it was
// written. Which hub is alive is no part of it: either one may hold the other for dead at any moment, which is more than
// [hubs.Judge] allows. What a hub or the agent concludes is asked of production ([answers]): hubs.Decide, judge, proves,
// standing, acknowledge, seals, owed and progress of this package, decide.Sync, decide.Arrives, decide.HoldAfter and
// decide.Step. What is here is who may do which of it when, and what the store and the network do.
//
// The unit's record, by which a hub owns the rack, is a key of its own: a hub takes it by comparing that alone, and each
// write for the rack compares it besides its own key. A hub works what it took once its mirror has come to the take.
//
// Left out are: time; guard mode, copies of a disk and its loss; the word on the hub's store (HubHead); what a hub does between
// reading its mirror and writing, since a write that is late is like a mirror that stands still: it is compared with the same
// revisions. Nonces that a hub gave for the same session are the same as long as nothing was acknowledged between.
//
// The detector of races would find nothing, and takes ten times as long: there is one goroutine.

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/integration/explore"
)

var (
	modelDepth  = flag.Int("model-depth", 0, "steps that the model of several hubs goes; 0 is few")
	modelStates = flag.Int("model-states", 1<<30, "states after which it ends")
	modelEvery  = flag.Uint64("model-every", 256, "of how many states one is asked how it comes to rest")
)

// limits of what may go wrong in one history, and of what is ordered.
var modelBudget = budget{takes: 2, crashes: 1, restarts: 1, twice: 1, unknown: 1, orders: 2}

// history is what leads to a state that a search begins with: hubs work alone, one after the other, without anything that
// goes wrong but what is said here.
type history struct {
	m     *system
	world world
	// late is a message that was on its way in it, and still is.
	late packet
	// stopped is a hub that does nothing meanwhile, its mirror neither; -1 is none.
	stopped int
	lags    bool // the second hub's mirror comes no further than the hub waits for
	note    func(world)
	wrong   string // what was, first
	at      world  // after that
}

func (h *history) notes() {
	w := h.world
	w.left = modelBudget
	if h.late.kind != msgNone {
		w.send(h.late)
	}
	h.note(w)
}

// histories are the states that a search begins with: all those of a history, so that it goes from the middle of whatever
// hubs and agent are at. After an order the rack goes from one hub to the other and back, while a message of before is late
// or the first hub is stopped. wrong is what was wrong in one, and at where that led to.
func (m *system) histories() (roots []world, wrong string, at world) {
	begin := world{agent: agentState{session: 1}}
	for hub := range nHubs {
		begin.hubs[hub].run = uint8(hub) + 1
	}
	known := map[world]bool{}
	note := func(w world) {
		if !known[w] {
			known[w] = true
			roots = append(roots, w)
		}
	}
	tell := func(h history) world {
		if h.wrong != "" && wrong == "" {
			wrong, at = h.wrong, h.at
		}
		return h.world
	}
	run := func(w world, hub, stopped int, late packet, note func(world)) world {
		h := history{m: m, world: w, note: note, late: late, stopped: stopped}
		h.settle(hub)
		return tell(h)
	}
	place := func(w *world) { w.agent.lies = 2 } // a hold that no hub knows
	local := begin
	place(&local)
	run(local, 0, -1, packet{}, note)
	settled := run(begin, 0, -1, packet{}, note)
	for _, order := range []func(*world){
		func(w *world) { m.holds(w, 1, true) },
		func(w *world) { m.claims(w, 0, true) },
		place,
	} {
		w := settled
		var held world
		var sent []packet
		w.left.orders = 9
		order(&w)
		for _, release := range []bool{false, true} {
			if release {
				w.left.orders = 9
				if ok, _ := m.releases(&w, 1, true); !ok {
					continue
				}
			}
			before := w
			if !release {
				held = run(w, 0, -1, packet{}, func(world) {})
				held.left.orders = 9
			}
			for _, p := range sent { // what was on its way before the release may come after it
				run(before, 0, -1, p, note)
				run(before, 1, -1, p, note)
			}
			under := map[packet]world{} // what was on its way, and when it was first
			sent = nil
			w = run(w, 0, -1, packet{}, func(w world) {
				note(w)
				for _, p := range w.net {
					if _, there := under[p]; p.kind != msgNone && !there {
						under[p] = w
						sent = append(sent, p)
					}
				}
			})
			for _, p := range sent { // each may be late while the rack goes to the other hub and back
				now := under[p]
				now.net = [maxNet]packet{}
				run(run(now, 1, -1, p, note), 0, -1, p, note)
			}
			run(before, 1, 0, packet{}, note)
			run(w, 1, 0, packet{}, note)
			run(run(before, 0, 1, packet{}, note), 1, -1, packet{}, note)
			// The other hub has a number, and the first one starts again and takes a higher one.
			numbered := before
			numbered.left.takes = 1
			m.number(&numbered, 1, true)
			numbered.start(0, numbered.hubs[0].run+nHubs)
			run(numbered, 0, -1, packet{}, note)
		}
		// One hub carries a release out while the other is stopped, which then takes the rack.
		if ok, _ := m.releases(&held, 0, true); ok {
			h := history{m: m, world: run(held, 0, 1, packet{}, note), note: note, stopped: -1, lags: true}
			h.settle(1)
			tell(h)
		}
	}
	return roots, wrong, at
}

// settle has one hub alone go on, with all that was on its way, until nothing changes any more.
func (h *history) settle(hub int) {
	m, w := h.m, &h.world
	w.left = budget{takes: 200}
	did := func(ok bool, wrong string) {
		if !ok {
			return
		}
		if h.wrong == "" && wrong != "" {
			h.wrong, h.at = wrong, *w
		}
		h.catchUp()
		h.notes()
	}
	for range 100 {
		was := *w
		h.catchUp()
		for w.net[0].kind != msgNone {
			p := w.net[0]
			w.lose(0)
			if p.kind < msgHello {
				did(m.receive(w, p))
			} else {
				did(m.hear(w, hub, p, true))
			}
		}
		did(m.number(w, hub, true))
		did(m.takes(w, hub, true))
		did(m.enter(w, hub, 0, true))
		did(m.enter(w, hub, 1, true))
		did(m.grants(w, hub, true))
		did(m.booted(w, hub, true))
		did(m.remove(w, hub, true))
		did(m.asks(w, hub), "")
		did(m.boot(w))
		did(w.sayReport(), "")
		did(w.sayHello(), "")
		did(m.send(w, hub, 0), "")
		did(m.send(w, hub, 1), "")
		w.left.takes = 200
		if *w == was {
			break
		}
	}
	w.net = [maxNet]packet{}
}

// catchUp has the mirrors of all hubs that go on come to the present.
func (h *history) catchUp() {
	w := &h.world
	for i := range nHubs {
		if h.lags && i == 1 {
			if h.m.flaws.refreshesAlone {
				w.refresh(i)
			}
			for !h.m.flaws.worksAtOnce && w.hubs[i].at < w.hubs[i].reach {
				w.watch(i)
			}
			continue
		}
		for i != h.stopped && w.hubs[i].at < w.logs {
			w.watch(i)
		}
	}
}

// rest says what is wrong of a state once nothing bad happens any more: whichever hub is left, each order is carried out.
func (m *system) rest(w world) string {
	for hub := range nHubs {
		h := history{m: m, world: w, note: func(world) {}, stopped: -1}
		h.settle(hub)
		wrong := h.wrong
		if wrong == "" {
			wrong = h.world.unrest()
		}
		if wrong != "" {
			return fmt.Sprintf("with hub %c alone: %s", 'A'+hub, wrong)
		}
	}
	return ""
}

func (w *world) unrest() string {
	k, g := w.store, w.agent
	switch {
	case k.order == active && (g.lies != 1 || k.hold.says != saysHold || k.heldAck != k.hold.version):
		return "an accepted hold is not enforced, or the ledger does not say so"
	case k.order == done:
		return "a released hold does not leave the store"
	case k.order == gone && g.lies != 0:
		return "a released hold lies"
	case k.order == absent && g.lies != 0:
		return "a hold lies that no hub knows"
	case (k.claim == active || k.claim == done) && g.lies == 0:
		return "a claim is not booted"
	case k.claim == gone && g.armed != 1:
		return "a claim is filed as booted that was not"
	}
	return ""
}

func (m *system) search(depth, states int, every uint64) (explore.Found[world], explore.Model[world, packed]) {
	roots, wrong, at := m.histories()
	short := newPacker()
	model := explore.Model[world, packed]{Roots: roots, Next: m.next, Pack: short.pack, Unpack: short.unpack, Rest: m.rest, Every: every}
	if wrong != "" {
		return explore.Found[world]{Wrong: wrong + ", in a history that the search begins with", Root: at}, model
	}
	return explore.Search(model, explore.Bounds{Depth: depth, States: states}), model
}

// told is a trace in words.
func told(f explore.Found[world], model explore.Model[world, packed]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", f.Wrong, f.Root)
	for step, before := range model.Path(f) {
		fmt.Fprintf(&b, "  %s\n", words(step, before))
	}
	return b.String()
}

// TestHubsModel goes through all that can become of a rack with two hubs on one store, to a depth.
func TestHubsModel(t *testing.T) {
	depth := *modelDepth
	if depth == 0 {
		depth = 2
	}
	began := time.Now()
	m := &system{ask: newAnswers()}
	f, model := m.search(depth, *modelStates, *modelEvery)
	if f.Wrong != "" {
		t.Fatal(told(f, model))
	}
	m.ask.reached(t)
	t.Logf("%d histories, %d states and %d steps to depth %d, %d brought to rest, in %s", len(model.Roots), f.States, f.Steps, f.Depth, f.Rested, time.Since(began).Round(time.Millisecond))
}

// TestHubsModelNotices breaks one rule after the other. Each must be found.
func TestHubsModelNotices(t *testing.T) {
	for name, broken := range map[string]flaws{
		"effects without the owner":            {effectsUnowned: true},
		"a take that does not raise the fence": {fenceStays: true},
		"absence releases":                     {absenceReleases: true},
		"documents of any fence":               {anyFence: true},
		"sent before it is in the ledger":      {publishFirst: true},
		"versions used again after a take":     {versionsAgain: true},
		"a grant without comparing":            {grantBlind: true},
		"a take without comparing":             {takeBlind: true},
		"a hold removed early":                 {removesEarly: true},
		"armed before it is on disk":           {armsFirst: true},
		"a take by an old number":              {oldNumber: true},
		"the ledger read alone":                {refreshesAlone: true, worksAtOnce: true},
		"a hub that works at once":             {worksAtOnce: true},
		"old nonces, and adoption unasked":     {keepsContact: true, unburied: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &system{ask: newAnswers(), flaws: broken}
			f, model := m.search(6, 3_000_000, 16)
			if f.Wrong == "" {
				t.Fatalf("not noticed in %d states to depth %d", f.States, f.Depth)
			}
			t.Logf("%d states: %s", f.States, told(f, model))
		})
	}
}
