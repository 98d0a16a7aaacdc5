package rollout

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol/resource"
)

// scene is a small fleet, its roll-out, and what happens meanwhile.
type scene struct {
	seed        uint64
	racks, each int
	spec        resource.RolloutSpec
	image       defect
	stamped     bool
	kills       float64
	trouble     bool // servers join and leave, are held, and go dark for a while
	people      bool // who pause, resume and go on
	approves    int  // how often in a hundred minutes somebody approves all servers
}

func scenes() *rapid.Generator[scene] {
	return rapid.Custom(func(t *rapid.T) scene {
		sc := scene{
			seed: rapid.Uint64().Draw(t, "seed"), racks: rapid.IntRange(1, 4).Draw(t, "racks"), each: rapid.IntRange(1, 5).Draw(t, "each"),
			image:   rapid.SampledFrom([]defect{sound, sound, broken, silent, relapse}).Draw(t, "image"),
			stamped: rapid.Bool().Draw(t, "stamped"), kills: rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "kills"),
			trouble: rapid.Bool().Draw(t, "trouble"), people: rapid.Bool().Draw(t, "people"), approves: rapid.IntRange(2, 50).Draw(t, "approves"),
		}
		sc.spec = resource.RolloutSpec{
			Strategy:       rapid.SampledFrom([]resource.RolloutStrategy{resource.RolloutReboot, resource.RolloutReprovision, resource.RolloutOnNextBoot}).Draw(t, "strategy"),
			MaxUnavailable: rapid.SampledFrom([]resource.Share{"1", "2", "20%", "50%"}).Draw(t, "maxUnavailable"),
			Waves:          rapid.SampledFrom([][]resource.Share{nil, {"1"}, {"10%", "50%"}, {"100%"}, {"1%", "30"}}).Draw(t, "waves"),
			OnFailure:      rapid.SampledFrom([]resource.RolloutFailure{resource.OnFailurePause, resource.OnFailureRollback}).Draw(t, "onFailure"),
			Canary:         resource.CanarySpec{Count: rapid.IntRange(1, 4).Draw(t, "canaries")},
			MaxFailures:    rapid.IntRange(0, 1).Draw(t, "maxFailures"),
		}
		if rapid.Bool().Draw(t, "windows") {
			sc.spec.Windows = night()
		}
		return sc
	})
}

func (sc scene) world() *world {
	w := newWorld(sc.seed, sc.racks, sc.each, sc.spec)
	w.image, w.stamped, w.kills = sc.image, sc.stamped, sc.kills
	return w
}

// events are what happens before each minute; all trouble is over after a while, so that
// an honest fleet has to end.
func (sc scene) events(w *world) func(int) {
	return func(i int) {
		if i%100 < sc.approves {
			for name := range w.boxes {
				w.approved[name] = true
			}
		}
		name := fmt.Sprintf("r%02d-s%02d", w.rnd.IntN(sc.racks), w.rnd.IntN(sc.each))
		rack, chance := name[:3], w.rnd.IntN(200)
		if i >= calm {
			clear(w.dark)
			for _, b := range w.boxes {
				b.held = false
			}
		} else if b := w.boxes[name]; sc.trouble && b != nil {
			switch chance {
			case 0, 1, 2:
				w.dark[rack] = !w.dark[rack]
			case 3, 4, 5, 6:
				b.held = !b.held
			case 7:
				if len(w.boxes) > 1 {
					delete(w.boxes, name)
				}
			case 9:
				w.restart(b)
			case 8:
				w.join(fmt.Sprintf("late-%03d", i), rack)
			}
		}
		if i < calm && sc.people && !w.status.Phase.Over() {
			switch chance {
			case 20, 21:
				w.say(Pause)
			case 22, 23, 24:
				w.say(Resume)
			case 25:
				w.say(Next)
			}
		}
		if sc.spec.Strategy == resource.RolloutOnNextBoot && i%20 == 0 && w.status.Phase != resource.RolloutPaused {
			for _, b := range w.boxes {
				if !b.serving || b.boots != w.current && (b.name == name || i > calm) {
					w.restart(b)
				}
			}
		}
		if i >= calm && i%60 == 0 && w.status.Phase == resource.RolloutPaused && w.image == sound {
			w.say(Resume)
		}
	}
}

func (w *world) say(c Command) {
	if st, err := Do(w.now, w.status, c, "somebody", "to see"); err == nil {
		w.status = st
	}
}

// Whatever happens, no order breaks a promise, and who can end ends: a sound image
// reaches everybody, a bad one is stopped, and returned where that was asked for.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scenes().Draw(t, "scene")
		w := sc.world()
		if err := w.run(1500, sc.events(w)); err != nil {
			t.Fatal(err)
		}
		if w.image == sound && !sc.trouble && (w.status.Phase != resource.RolloutCompleted || w.states()[resource.MemberDone] != len(w.boxes)) {
			t.Fatalf("a sound image: %s, %v", w.status.Phase, w.states())
		}
		if w.image != sound && w.status.Phase == resource.RolloutCompleted && w.states()[resource.MemberDone] > 0 {
			t.Fatalf("a bad image is done: %v", w.states())
		}
	})
}

// A step repeated on its own result changes nothing: what follows follows at once, and
// between steps nothing is to be done but at RecheckAt.
func TestSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scenes().Draw(t, "scene")
		w := sc.world()
		w.step = func(in Input) Result {
			before := fmt.Sprintf("%+v", in.Status)
			out := Step(in)
			if after := fmt.Sprintf("%+v", in.Status); before != after {
				t.Fatalf("the input was changed:\n%s\n%s", before, after)
			}
			in.Status = out.Status
			if d := out.RecheckAt.Sub(in.Now); !out.RecheckAt.IsZero() && d <= 0 {
				t.Fatalf("the next step is due %s ago", -d)
			} else if d > time.Second && len(out.Orders) == 0 {
				in.Now = in.Now.Add(d - time.Second)
			}
			again := Step(in)
			slices.SortFunc(again.Orders, byServer)
			slices.SortFunc(out.Orders, byServer)
			if !reflect.DeepEqual(again.Status, out.Status) || !reflect.DeepEqual(again.Orders, out.Orders) {
				t.Fatalf("not settled:\n%+v\n%+v\n%+v\n%+v", out.Status, out.Orders, again.Status, again.Orders)
			}
			return out
		}
		_ = w.run(400, sc.events(w)) // where it ends is not the question here
	})
}

func byServer(a, b Order) int { return strings.Compare(a.Server, b.Server) }
