package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/integration/parallel"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "replay the scenario with this seed; 0 is that of $"+seedVariable+", or a new one")
	keepFlag  = flag.Bool("keep-going", false, "go on with other seeds after a failure")
	stepsFlag = flag.Int("steps", 0, "how many steps the property test takes; 0 is what fits into CI")
)

// seedVariable names the seed from which every check of a commit begins, so that it says
// what the commit did and not what the dice did; new ones are for `make soak`.
const seedVariable = "RACKBOOT_TEST_SEED"

const (
	stepsPerWorld = 500
	worldsAtOnce  = 2
)

func steps() int {
	switch {
	case *stepsFlag > 0:
		return *stepsFlag
	case parallel.Short() || raceEnabled:
		return 2_000
	default:
		return 50_000
	}
}

// seedOf is the seed that was asked for, else a new one; in decimal it has at most
// 15 digits.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	if *seedFlag != 0 {
		return *seedFlag
	}
	given := os.Getenv(seedVariable)
	if given == "" {
		return rand.Uint64() >> 16
	}
	seed, err := strconv.ParseUint(given, 10, 48)
	if err != nil {
		t.Fatalf("%s: %v", seedVariable, err)
	}
	return seed
}

// TestRandomInterleavings: whatever the order in which people, the network, the
// processes and the disks do what they can do, no promise is broken at any step
// (P1, P9, P10), and afterwards an honest network ends everything that is open.
func TestRandomInterleavings(t *testing.T) {
	first, worlds := seedOf(t), max(1, steps()/stepsPerWorld)
	if *seedFlag != 0 && *stepsFlag == 0 {
		worlds = 1
	}
	var next, done atomic.Int64
	var mu sync.Mutex
	var seen tally
	start := time.Now()
	t.Run("worlds", func(t *testing.T) {
		for range worldsAtOnce {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for !t.Failed() || *keepFlag {
					i := next.Add(1) - 1
					if i >= int64(worlds) {
						return
					}
					seed := first + uint64(i)
					t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							got := world(t, seed, &done)
							mu.Lock()
							defer mu.Unlock()
							seen.add(got)
						})
					})
				}
			})
		}
	})
	t.Logf("%d steps in %s, first seed %d: %+v", done.Load(), time.Since(start).Round(time.Second), first, seen)
	if worlds >= 10 && !t.Failed() && seen.lacks() {
		t.Error("something that is to be proven did not happen")
	}
}

func world(t *testing.T, seed uint64, done *atomic.Int64) tally {
	w := &wild{site: newSite(t, seed, 1, newBag)}
	defer func() {
		w.mend()
		w.stop(w.more...)
	}()
	w.calm(2 * time.Minute)
	for range stepsPerWorld {
		w.step()
		w.wait(0)
		w.reap()
		w.book.check()
		done.Add(1)
		if t.Failed() {
			return w.book.seen
		}
	}
	w.mend()
	w.settleHubs()
	w.settle()
	return w.book.seen
}

// wild is a site to which anything may happen.
type wild struct {
	*site
	more   []*hub // second hubs, dead or alive
	hubs   *storetest.Memory
	disks  *statetest.Memory
	timers []*time.Timer // of the hardware
	behind bool          // the hub's store is an old copy, and nobody has raised the epoch
}

func (w *wild) bag() *bag { return w.net.(*bag) }

// step does one thing.
func (w *wild) step() {
	switch n := w.rng.IntN(1000); {
	case n < 450:
		w.mail()
	case n < 600:
		w.somebody()
	case n < 890:
		w.time()
	case n < 920:
		w.connections()
	case n < 950:
		w.processes()
	case n < 965:
		w.hardware()
	default:
		w.disk()
	}
}

// mail does something with a message, most often the next one.
func (w *wild) mail() {
	b := w.bag()
	n := w.rng.IntN(100)
	i := 0
	if n >= 60 {
		i = w.rng.IntN(bagSize) // out of order; whatever is not taken is late
	}
	l, ok := b.take(i, n >= 80 && n < 95)
	if !ok {
		return
	}
	if n >= 95 {
		w.note("lost: %s to %s", l.topic, l.to)
		return
	}
	w.note("deliver %s to %s", l.topic, l.to)
	b.deliver(l)
}

func (w *wild) time() {
	d := time.Duration(0)
	switch n := w.rng.IntN(100); {
	case n < 50:
		d = w.random(time.Second)
	case n < 90:
		d = w.random(15 * time.Second)
	case n < 99:
		d = w.random(3 * time.Minute)
	default:
		d = w.random(30 * time.Minute)
	}
	w.note("wait %s", d)
	w.wait(d)
}

func (w *wild) connections() {
	names := []string{w.hub.name, w.agents[0].name}
	name := names[w.rng.IntN(len(names))]
	switch w.rng.IntN(5) {
	case 0:
		w.note("cut %s", name)
		w.bag().cut(name)
	case 1:
		w.note("the broker restarts")
		w.bag().restart()
	default:
		w.note("heal")
		for _, n := range names {
			w.net.heal(n)
		}
	}
}

// processes kills the hub or the agent, now or at some crash point soon; reap
// starts them again.
func (w *wild) processes() {
	p, name := w.hub.process, w.hub.name
	if w.chance(0.5) {
		p, name = w.agents[0].process, w.agents[0].name
	}
	if w.chance(0.3) {
		w.note("kill %s", name)
		p.kill()
		return
	}
	n := 1 + w.rng.IntN(6)
	w.note("%s dies %d crash points from now", name, n)
	p.fuse.Store(int64(n))
}

// reap starts what died, sooner or later.
func (w *wild) reap() {
	if a := w.agents[0]; !a.alive() && w.chance(0.2) {
		a.kill()
		w.note("start %s", a.name)
		a.start()
	}
	if !w.hub.alive() && w.chance(0.2) {
		w.startHub()
	}
}

func (w *wild) startHub() {
	w.hub.kill()
	w.note("start %s", w.hub.name)
	w.hub.start()
}

// disk copies a disk, puts an old copy back, or loses it.
func (w *wild) disk() {
	a := w.agents[0]
	switch w.rng.IntN(12) {
	case 0, 10:
		w.note("copy the agent's disk")
		w.disks = a.disk.Load().Copy()
	case 1, 2, 11:
		if w.disks != nil {
			w.note("the agent's disk is rolled back")
			a.kill()
			a.swap(w.disks.Copy())
			a.start()
		}
	case 3:
		w.note("the agent's disk is lost")
		a.kill()
		a.swap(statetest.NewMemory())
		a.start()
	case 4, 5:
		if !w.behind {
			w.note("copy the hub's disk")
			w.hubs = w.hub.disk.Load().Copy()
		}
	case 6:
		if w.hubs != nil && !w.behind {
			w.behind = true
			w.rollBackHub(w.hubs.Copy())
		}
	case 7, 8:
		if w.behind {
			w.raise()
		}
	case 9:
		w.secondHub()
	}
}

func (w *wild) raise() {
	w.note("rackboot-hub restored")
	w.hub.kill()
	w.hub.raiseEpoch()
	w.behind = false
	w.hub.start()
}

// secondHub starts a hub on a copy of the first one's disk. People are told, and
// talk to the new one.
func (w *wild) secondHub() {
	if w.behind || !w.hub.alive() || len(w.more) > 0 && w.more[len(w.more)-1].alive() {
		return
	}
	w.note("a second hub on a copy")
	disk := w.hub.disk.Load().Copy()
	w.book.split(disk)
	w.more = append(w.more, w.hub)
	w.hub = w.newHub(fmt.Sprintf("hub%d", len(w.more)+1), disk)
	w.hub.start()
}

// settleHubs leaves one hub, and does to it what an operator is told to do.
func (w *wild) settleHubs() {
	for _, h := range w.more {
		if h.alive() {
			w.note("stop %s", h.name)
			h.kill()
		}
	}
	w.recover()
	for range 4 { // the copy may be older than an epoch that was raised before
		w.calm(5 * time.Minute)
		switch {
		case w.behind || w.has(w.hub.agentConditions(w.agents[0].name), resource.CondHubBehind):
			w.raise()
		case w.hub.fence.Writable() != nil:
			w.startHub()
		default:
			return
		}
	}
}
