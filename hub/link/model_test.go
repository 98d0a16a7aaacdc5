package link

import (
	"flag"
	"fmt"
	"reflect"
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

// histories are where the model begins: all states of a history in which nothing goes wrong, and of others that begin with
// an order. So what a search goes is steps from the middle of whatever the hubs are at.
func (m *system) histories() (roots []world) {
	begin := world{agent: agentState{session: 1}}
	for hub := range nHubs {
		begin.hubs[hub].run = uint8(hub) + 1
	}
	note := func(w world) {
		w.left = modelBudget
		roots = append(roots, w)
	}
	settled := begin
	m.settle(&settled, 0, note)
	for _, order := range []func(*world){
		func(w *world) { m.holds(w, 1, true) },
		func(w *world) { m.claims(w, 0, true) },
		func(w *world) { w.agent.lies = 2 }, // a hold that no hub knows
	} {
		w := settled
		w.left.orders = 9
		order(&w)
		m.settle(&w, 0, note)
		w.left.orders = 9
		if ok, _ := m.releases(&w, 1, true); ok {
			m.settle(&w, 0, note)
		}
		m.settle(&w, 1, note) // takes over
	}
	return roots
}

// settle has one hub alone go on, with all that was on its way, until nothing changes any more: the other one is dead.
func (m *system) settle(w *world, hub int, note func(world)) {
	w.left = budget{takes: 200, orders: 0}
	h := &w.hubs[hub]
	for range 100 {
		was := *w
		for i := range nHubs {
			for w.hubs[i].at < w.logs {
				w.watch(i)
			}
		}
		for w.net[0].kind != msgNone {
			p := w.net[0]
			w.lose(0)
			if p.kind < msgHello {
				m.receive(w, p)
			} else {
				m.hear(w, hub, p, true)
			}
			w.catchUp()
			note(*w)
		}
		for _, act := range []func() (bool, string){
			func() (bool, string) { return m.number(w, hub, true) },
			func() (bool, string) { return m.takes(w, hub, true) },
			func() (bool, string) { return m.enter(w, hub, 0, true) },
			func() (bool, string) { return m.enter(w, hub, 1, true) },
			func() (bool, string) { return m.grants(w, hub, true) },
			func() (bool, string) { return m.booted(w, hub, true) },
			func() (bool, string) { return m.remove(w, hub, true) },
			func() (bool, string) { return m.asks(w, hub), "" },
			func() (bool, string) { return m.boot(w) },
			func() (bool, string) { return w.sayReport(), "" },
			func() (bool, string) { return w.sayHello(), "" },
			func() (bool, string) { return m.send(w, hub, 0), "" },
			func() (bool, string) { return m.send(w, hub, 1), "" },
		} {
			if ok, _ := act(); ok {
				w.catchUp()
				note(*w)
			}
		}
		w.left.takes = 200
		if *w == was && m.owns(h) {
			break
		}
	}
	w.net = [maxNet]packet{}
}

// catchUp has all mirrors come to the present.
func (w *world) catchUp() {
	for i := range nHubs {
		for w.hubs[i].at < w.logs {
			w.watch(i)
		}
	}
}

// rest says what is wrong of a state once nothing bad happens any more: whichever hub is left, each order is carried out.
func (m *system) rest(w world) string {
	for hub := range nHubs {
		n := w
		m.settle(&n, hub, func(world) {})
		if wrong := n.unrest(); wrong != "" {
			return fmt.Sprintf("with hub %c alone: %s\n\tbefore %+v\n\tin the end %+v", 'A'+hub, wrong, w, n)
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

func (m *system) search(depth, states int, every uint64) (explore.Found[world], explore.Model[world]) {
	model := explore.Model[world]{Roots: m.histories(), Next: m.next, Rest: m.rest, Every: every}
	return explore.Search(model, explore.Bounds{Depth: depth, States: states}), model
}

// told is a trace in words.
func told(f explore.Found[world], model explore.Model[world]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nfrom %+v\n", f.Wrong, f.Root)
	before := f.Root
	for step, after := range f.Path(model) {
		fmt.Fprintf(&b, "  %s\n", words(step, before))
		before = after
	}
	return b.String()
}

// TestHubsModel goes through all that can become of a rack with two hubs on one store, to a depth.
func TestHubsModel(t *testing.T) {
	depth := *modelDepth
	if depth == 0 {
		depth = 4
	}
	began := time.Now()
	m := &system{ask: newAnswers()}
	f, model := m.search(depth, *modelStates, *modelEvery)
	if f.Wrong != "" {
		t.Fatal(told(f, model))
	}
	t.Logf("%d histories, %d states and %d steps to depth %d, %d brought to rest, in %s", len(model.Roots), f.States, f.Steps, f.Depth, f.Rested, time.Since(began).Round(time.Millisecond))
}

// TestHubsModelNotices breaks one rule after the other. Each must be found.
func TestHubsModelNotices(t *testing.T) {
	all := reflect.TypeFor[flaws]()
	for i := range all.NumField() {
		name := all.Field(i).Name
		t.Run(name, func(t *testing.T) {
			m := &system{ask: newAnswers()}
			flaw := reflect.ValueOf(&m.flaws).Elem().Field(i)
			reflect.NewAt(flaw.Type(), flaw.Addr().UnsafePointer()).Elem().SetBool(true)
			f, model := m.search(6, 3_000_000, 16)
			if f.Wrong == "" {
				t.Fatalf("not noticed in %d states to depth %d", f.States, f.Depth)
			}
			t.Logf("%d states: %s", f.States, told(f, model))
		})
	}
}
