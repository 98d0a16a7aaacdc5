package sharing

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// hub is one of several on a store, which can be cut off from it.
type hub struct {
	t     *testing.T
	name  string
	mem   *cutOff
	store *store.Store
	start *fence.Start
	room  *Room
	stop  func() error
	deaf  atomic.Bool // it hears no agents

	mu    sync.Mutex
	moved []string // "took rack/r1"
}

// cutOff is a store that a hub may not reach: calls wait, as they do on a network that is gone.
type cutOff struct {
	*storetest.Memory
	beats time.Duration // how long a beat is under way
	takes atomic.Int64  // how often this hub has taken rack r1
	mu    sync.Mutex
	away  chan struct{} // closed once it is back; nil while it is there
}

func (c *cutOff) wait(ctx context.Context) error {
	c.mu.Lock()
	away := c.away
	c.mu.Unlock()
	if away == nil {
		return nil
	}
	select {
	case <-away:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cutOff) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if strings.HasPrefix(key, "hub.") {
		time.Sleep(c.beats)
	}
	if err := c.wait(ctx); err != nil {
		return 0, err
	}
	revision, err := c.Memory.Update(ctx, key, value, revision)
	if err == nil && key == "unit.rack.r1" {
		c.takes.Add(1)
	}
	return revision, err
}

func (c *cutOff) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	if strings.HasPrefix(key, "hub.") {
		time.Sleep(c.beats)
	}
	if err := c.wait(ctx); err != nil {
		return 0, err
	}
	return c.Memory.Create(ctx, key, value)
}

func (c *cutOff) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = make(chan struct{})
}

func (c *cutOff) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.away)
	c.away = nil
}

func startHub(t *testing.T, mem *storetest.Memory, name string) *hub {
	t.Helper()
	return startSlowHub(t, mem, name, 0)
}

// startSlowHub starts one whose beats are under way for a while.
func startSlowHub(t *testing.T, mem *storetest.Memory, name string, beats time.Duration) *hub {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &hub{t: t, name: name, mem: &cutOff{Memory: mem, beats: beats}}
	var err error
	if h.store, err = store.Open(ctx, store.Config{KV: h.mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }}); err != nil {
		t.Fatal(err)
	}
	if h.start, err = fence.Begin(ctx, h.store.Meta, time.Now, slog.New(slog.DiscardHandler), fmt.Sprintf("%s-%d", name, time.Now().UnixNano())); err != nil {
		t.Fatal(err)
	}
	note := func(what string) func(string) {
		return func(unit string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.moved = append(h.moved, what+" "+unit)
		}
	}
	h.room = New(Config{
		Store: h.store, Start: h.start, Self: store.Hub{Name: name, Run: h.start.Fence().Hub}, Took: note(took), Left: note(left), Hears: func() bool { return !h.deaf.Load() }, Lacks: func() uint64 { return 0 }, Whole: func() {}, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	h.start.Share(h.room)
	var running sync.WaitGroup
	var ended error
	running.Go(func() { _ = h.store.Run(ctx) }) // it returns nil
	running.Go(func() { ended = h.room.Run(ctx) })
	h.stop = sync.OnceValue(func() error {
		cancel()
		running.Wait()
		return ended
	})
	t.Cleanup(func() { _ = h.stop() }) // who cares has looked
	return h
}

// works are the units that a hub works.
func (h *hub) works() string {
	var out []string
	for _, unit := range append(racksOf(h.store.Objects), fence.Site) {
		if h.room.Works(unit) {
			out = append(out, unit)
		}
	}
	return strings.Join(out, " ")
}

func site(t *testing.T, mem *storetest.Memory) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"r1", "r2", "r3"} {
		r := &resource.Rack{}
		r.Metadata.Name = name
		r.Default()
		if _, err := s.Sets.Apply(t.Context(), []resource.Object{r}, store.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

const everything = "rack/r1 rack/r2 rack/r3 site"

// never looks each tenth of a second for two hubs that work one unit.
func never(t *testing.T, for_ time.Duration, hubs ...*hub) {
	t.Helper()
	for range for_ / (100 * time.Millisecond) {
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		for unit := range strings.FieldsSeq(everything) {
			var who []string
			for _, h := range hubs {
				if h.room.Works(unit) {
					who = append(who, h.name)
				}
			}
			if len(who) > 1 {
				t.Fatalf("%s is worked by %v", unit, who)
			}
		}
	}
}

// A hub that is alone works everything at once; one that comes is given it if it should have it, and takes it within ten
// seconds where the other one is gone, or cut off; which goes on as if nothing had been once it is back.
func TestHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a := startHub(t, mem, "a")
		never(t, time.Second, a)
		if got := a.works(); got != everything {
			t.Fatalf("a hub that is alone works %q", got)
		}
		b := startHub(t, mem, "b")
		never(t, 20*time.Second, a, b)
		one, other := a, b
		if b.works() != "" {
			one, other = b, a
		}
		if one.works() != everything || other.works() != "" {
			t.Fatalf("%s works %q, %s %q", one.name, one.works(), other.name, other.works())
		}
		before := one.room.Owner("rack/r1").Number

		one.mem.cut()
		never(t, 10*time.Second, one, other)
		if one.works() != "" || other.works() != everything {
			t.Fatalf("after a cut %s works %q, %s %q", one.name, one.works(), other.name, other.works())
		}
		if now := other.room.Owner("rack/r1").Number; now <= before {
			t.Errorf("the fence went from %d to %d", before, now)
		}
		if last := other.moved[len(other.moved)-1]; last != "took site" {
			t.Errorf("the site was not taken last: %v", other.moved)
		}

		one.mem.heal()
		never(t, 20*time.Second, one, other)
		if one.works() != everything || other.works() != "" {
			t.Fatalf("once it is back %s works %q, %s %q", one.name, one.works(), other.name, other.works())
		}
		if !slices.Contains(one.moved, "left rack/r2") || !slices.Contains(other.moved, "left rack/r2") {
			t.Errorf("who left was not told: %v, %v", one.moved, other.moved)
		}

		if err := one.stop(); err != nil {
			t.Fatal(err)
		}
		never(t, 2*time.Second, one, other)
		if other.works() != everything {
			t.Errorf("a hub that ended still has something: %s works %q", other.name, other.works())
		}
		again := startHub(t, mem, one.name)
		never(t, 20*time.Second, again, other)
		if again.works() != everything {
			t.Errorf("started again it works %q", again.works())
		}
	})
}

// A hub that hears no agents leaves them to one that does, and is given them back; where no hub hears any, nothing moves.
func TestAHubThatHearsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a, b := startHub(t, mem, "a"), startHub(t, mem, "b")
		never(t, 20*time.Second, a, b)
		one, other := a, b
		if b.works() != "" {
			one, other = b, a
		}
		for range 2 {
			one.deaf.Store(true)
			never(t, 12*time.Second, a, b)
			if one.works() != "" || other.works() != everything {
				t.Fatalf("who hears nobody works %q, the other one %q", one.works(), other.works())
			}
			other.deaf.Store(true)
			never(t, 12*time.Second, a, b)
			if other.works() != everything {
				t.Fatalf("where nobody hears anything, %q and %q are worked", one.works(), other.works())
			}
			one.deaf.Store(false)
			other.deaf.Store(false)
			never(t, 12*time.Second, a, b)
			if one.works() != everything {
				t.Fatalf("who hears again works %q", one.works())
			}
		}
	})
}

// While the store takes nothing from anybody, nobody is dead, and nothing moves.
func TestAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a, b := startHub(t, mem, "a"), startHub(t, mem, "b")
		never(t, 20*time.Second, a, b)
		moved := len(a.moved) + len(b.moved)
		owner := a.room.Owner(fence.Site)
		for range 3 {
			a.mem.cut()
			b.mem.cut()
			never(t, 12*time.Second, a, b)
			if a.works()+b.works() != "" {
				t.Errorf("without a store something is worked: %q, %q", a.works(), b.works())
			}
			a.mem.heal()
			b.mem.heal()
			never(t, 3*time.Second, a, b)
			if a.works()+b.works() != everything {
				t.Errorf("with a store again %q and %q are worked", a.works(), b.works())
			}
		}
		if len(a.moved)+len(b.moved) != moved || a.room.Owner(fence.Site) != owner {
			t.Errorf("something moved: %v, %v", a.moved, b.moved)
		}
	})
}

// Two hubs with one name: the one that came first says so and ends.
func TestOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a := startHub(t, mem, "a")
		never(t, 3*time.Second, a)
		b := startHub(t, mem, "a")
		never(t, 10*time.Second, a, b)
		if err := a.stop(); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
			t.Errorf("the first one says %v", err)
		}
		if b.works() != everything {
			t.Errorf("the other one works %q", b.works())
		}
	})
}

// A unit that goes to another hub goes once: who has taken it is not held for one that is too new, or that hears nobody, by
// a hub that has not heard of it yet.
func TestAUnitGoesOnce(t *testing.T) {
	for offset := range 20 { // between the seconds of the two
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem := storetest.NewMemory()
				site(t, mem)
				name := map[bool]string{true: "a", false: "b"}[hubs.First(fence.Site, []hubs.Member{{Name: "a", Settled: true}, {Name: "b", Settled: true}}) == "a"]
				other := startHub(t, mem, map[string]string{"a": "b", "b": "a"}[name])
				time.Sleep(10*time.Second + time.Duration(offset)*50*time.Millisecond)
				first := startSlowHub(t, mem, name, 700*time.Millisecond)
				never(t, 20*time.Second, first, other)
				if n := first.mem.takes.Swap(0); first.works() != everything || n != 1 {
					t.Errorf("the one that came works %q, and took a rack %d times", first.works(), n)
				}
				other.mem.takes.Store(0)
				first.deaf.Store(true)
				never(t, 15*time.Second, first, other)
				first.deaf.Store(false)
				never(t, 15*time.Second, first, other)
				if a, b := first.mem.takes.Load(), other.mem.takes.Load(); first.works() != everything || a != 1 || b != 1 {
					t.Errorf("the one that hears again works %q; it took a rack %d times, the other one %d times", first.works(), a, b)
				}
			})
		})
	}
}
