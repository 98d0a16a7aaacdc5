package rollout

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

const (
	oldImage = "sha256:old"
	newImage = "sha256:new"
	bootTime = 6 * time.Minute
)

// defect is what is wrong with the new image.
type defect string

const (
	sound   defect = "sound"
	broken  defect = "broken"  // its boot fails, which is reported
	silent  defect = "silent"  // its boot never ends
	relapse defect = "relapse" // it boots, and goes off a little later
)

// box is a server of the simulated fleet.
type box struct {
	name, rack    string
	labels        map[string]string
	network, held bool
	boots, going  string
	bootedAt      time.Time
	serving       bool
	busyUntil     time.Time // of an attempt; zero is none
	failed        string
	failedAt      time.Time
	order         *Order // recorded, and not yet taken by the server
	ordered       time.Time
	known         Server // the last that was heard of it
}

// world is a fleet and a hub's shell around Step, in virtual time.
type world struct {
	now      time.Time
	rnd      *rand.Rand
	spec     resource.RolloutSpec
	status   resource.RolloutStatus
	boxes    map[string]*box
	dark     map[string]bool // racks
	approved map[string]bool
	stamped  bool
	current  string
	image    defect
	step     func(Input) Result
	next     time.Time // when the hub has to look again
	kills    float64   // how often the hub dies between the status and the end of its orders
	orders   int
}

func newWorld(seed uint64, racks, each int, spec resource.RolloutSpec) *world {
	spec.Default()
	w := &world{
		now: time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC), rnd: rand.New(rand.NewPCG(seed, 1)), spec: spec,
		boxes: map[string]*box{}, dark: map[string]bool{}, approved: map[string]bool{}, current: newImage, image: sound, step: Step,
	}
	for r := range racks {
		for i := range each {
			w.add(fmt.Sprintf("r%02d-s%02d", r, i), fmt.Sprintf("r%02d", r)).settle(w.now.Add(-24*time.Hour), oldImage)
		}
	}
	w.status = Begin(w.now, spec, 2, 1, w.view())
	return w
}

func (w *world) add(name, rack string) *box {
	b := &box{name: name, rack: rack, network: w.spec.Strategy != resource.RolloutReprovision}
	w.boxes[name] = b
	return b
}

func (b *box) settle(at time.Time, image string) {
	b.boots, b.bootedAt, b.serving, b.failed, b.busyUntil = image, at, true, "", time.Time{}
}

// join is a server that is claimed now, and first boots what it may take.
func (w *world) join(name, rack string) {
	b := w.add(name, rack)
	b.going, b.busyUntil = oldImage, w.now.Add(bootTime)
	if w.stamped && w.current == newImage {
		b.going = newImage
	}
}

// restart is somebody's reboot of a server: it boots what it may have by then.
func (w *world) restart(b *box) {
	if b == nil || b.order != nil || !b.busyUntil.IsZero() || b.held || !b.network {
		return
	}
	b.going, b.serving, b.busyUntil = oldImage, false, w.now.Add(bootTime)
	if m, ok := w.status.Members[b.name]; w.current == newImage && (w.stamped || ok && m.Wave == 0) {
		b.going = newImage
	}
}

// view is what the hub knows of the fleet.
func (w *world) view() []Server {
	var all []Server
	for _, b := range w.boxes {
		s := Server{
			Name: b.name, Rack: b.rack, Labels: b.labels, Boots: b.boots, Target: newImage, BootedAt: b.bootedAt,
			Network: b.network, Claimed: true, Failed: b.failed, FailedAt: b.failedAt, Up: b.serving,
		}
		switch {
		case w.dark[b.rack] && b.known.Name == "":
			s.Up, s.Boots, s.Down = false, "", DownDark
		case w.dark[b.rack]:
			s = b.known
			s.Up, s.Down = false, DownDark
		case b.held:
			s.Up, s.Down = false, DownHeld
		case b.order != nil || !b.busyUntil.IsZero():
			s.Up, s.Down = false, DownAttempt
		case !b.serving && b.failed != "":
			s.Down = DownFailed
		case !b.serving:
			s.Down = DownOff
		}
		b.known = s
		s.Ordered = b.ordered
		all = append(all, s)
	}
	w.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// tick lets servers do what they do in a while.
func (w *world) tick(d time.Duration) {
	w.now = w.now.Add(d)
	for _, b := range w.boxes {
		if b.order != nil && !w.dark[b.rack] && !b.held {
			b.going = newImage
			if b.order.Kind == OrderReturn {
				b.going = oldImage
			}
			b.order, b.serving, b.busyUntil = nil, false, w.now.Add(bootTime)
			if b.going == newImage && w.image == silent {
				b.busyUntil = w.now.Add(w.spec.Deadline.D() + bootTime)
			}
		}
		switch {
		case b.busyUntil.IsZero() || b.busyUntil.After(w.now):
			if w.image == relapse && b.serving && b.boots == newImage && w.now.Sub(b.bootedAt) > w.spec.Soak.D()/2 {
				b.serving, b.failed, b.failedAt = false, "its kernel died", w.now
			}
		case b.going == newImage && (w.image == broken || w.image == silent):
			b.busyUntil, b.serving, b.failed, b.failedAt = time.Time{}, false, "its image did not start", w.now
		default:
			b.settle(w.now, b.going)
		}
	}
}

// hub is one step of the hub, which may die in it: then it goes on from what was stored.
func (w *world) hub() error {
	in := Input{Now: w.now, Spec: w.spec, Status: w.status, Servers: w.view(), Stamped: w.stamped, Approved: func(s string) bool { return w.approved[s] }}
	out := w.step(in)
	if err := w.check(out); err != nil {
		return err
	}
	if err := w.store(out.Status); err != nil {
		return err
	}
	w.next = out.RecheckAt
	dies := func() bool { return w.kills > 0 && w.rnd.Float64() < w.kills }
	if dies() {
		w.next = w.now
		return nil
	}
	if out.RollBack {
		w.current = oldImage
	}
	if out.Stamp != "" {
		if b := w.boxes[out.Stamp]; b.boots != newImage || w.image != sound {
			return fmt.Errorf("stamp: by %s, which boots %s, an image that is %s", out.Stamp, b.boots, w.image)
		}
		w.stamped = true
	}
	for _, o := range out.Orders {
		if dies() {
			w.next = w.now
			return nil
		}
		w.record(o)
	}
	return nil
}

// store keeps a status; now and then a small fleet's is read again.
func (w *world) store(st resource.RolloutStatus) error {
	if len(w.boxes) > 100 || w.rnd.IntN(8) > 0 {
		w.status = st
		return nil
	}
	stored, err := json.Marshal(st)
	if err != nil {
		return err
	}
	w.status = resource.RolloutStatus{}
	return json.Unmarshal(stored, &w.status)
}

// record is an order's way into the hub's store: the same one is recorded once.
func (w *world) record(o Order) {
	if b := w.boxes[o.Server]; b != nil && !b.ordered.Equal(o.At) {
		b.order, b.ordered = &o, o.At
		w.orders++
	}
}

// run lets time pass until the roll-out has ended, with what happens in between.
func (w *world) run(most int, event func(i int)) error {
	for i := range most {
		if event != nil {
			event(i)
		}
		if err := w.hub(); err != nil {
			return fmt.Errorf("minute %d: %w", i, err)
		}
		if w.ended() {
			return nil
		}
		w.tick(w.every(i))
	}
	var odd []string
	for name, m := range w.status.Members {
		if b := w.boxes[name]; b != nil && m.State != resource.MemberDone {
			odd = append(odd, fmt.Sprintf("%s is %s, boots %s, serving %v, held %v, failed %q, due %v", name, m.State, b.boots, b.serving, b.held, b.failed, m.DueAt))
		}
	}
	return fmt.Errorf("progress: after %d steps it is %s (%s): %v %q", most, w.status.Phase, w.status.Reason, w.states(), odd)
}

// calm is when trouble is over, in minutes; then time passes faster.
const calm = 300

func (w *world) every(i int) time.Duration {
	if i > calm && len(w.boxes) < 100 {
		return 5 * time.Minute
	}
	return time.Minute
}

// ended says whether nothing is left to be done.
func (w *world) ended() bool {
	n := w.states()
	busy := n[resource.MemberWaiting] + n[resource.MemberBegun] + n[resource.MemberSoaking] + n[resource.MemberReturning]
	switch w.status.Phase {
	case resource.RolloutCompleted:
		if n[resource.MemberFailed] > 0 && w.status.Reason != "" {
			busy -= n[resource.MemberWaiting] // too many stragglers failed, so no more are begun
		}
		return busy == 0
	case resource.RolloutRolledBack:
		for _, b := range w.boxes {
			if b.boots != oldImage || !b.serving {
				return false
			}
		}
		return n[resource.MemberReturning]+n[resource.MemberBegun] == 0
	case resource.RolloutWaiting: // for people, because of who was down before and failed again
		forgiven := false // by somebody who resumed, and did not repair it: it takes room
		for name, m := range w.status.Members {
			b := w.boxes[name]
			forgiven = forgiven || m.State == resource.MemberWaiting && b != nil && !b.serving && b.failed != ""
		}
		for _, m := range w.status.Members {
			if m.State == resource.MemberFailed && !m.WasDown && !forgiven {
				return false
			}
		}
		return w.image != sound && n[resource.MemberFailed] > 0 && strings.Contains(w.status.Reason, "out of service")
	case resource.RolloutPaused:
		return w.image != sound && n[resource.MemberBegun]+n[resource.MemberSoaking] == 0
	case resource.RolloutAborted, resource.RolloutFailed:
		return n[resource.MemberBegun]+n[resource.MemberSoaking] == 0
	default:
		return false
	}
}

func (w *world) states() map[resource.MemberState]int {
	n := map[resource.MemberState]int{}
	for _, m := range w.status.Members {
		n[m.State]++
	}
	return n
}
