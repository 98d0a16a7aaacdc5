package brokers

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/hub/fence"
	"rackboot/integration/fleet"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

var (
	manyRacks = flag.Int("racks", 10, "how many racks TestManyRacksOfTwoHubs has; it is for 100")
	manyEach  = flag.Int("servers", 4, "how many servers each of them has")
	// The time is judged where nothing else runs: `make soak` gives the design's ten seconds.
	manyWithin = flag.Duration("within", 0, "how long a hold may take there to be enforced; 0 is not judged")
)

const (
	// holdEvery is between two holds while a hub or a node is away.
	holdEvery = 100 * time.Millisecond
	// strikeFor is for how long it is away.
	strikeFor = 12 * time.Second
)

// TestManyRacksOfTwoHubs: a fleet of agents, all of whose servers are claimed, at two hubs that are processes, with a store on three NATS
// servers. The hub that works dies, then the node that leads the stream, while holds come through the other hub. Each
// hold that was accepted is fenced, none fails, nobody is given another boot, and all racks come back into step.
func TestManyRacksOfTwoHubs(t *testing.T) {
	c := startCluster(t)
	kv := c.open() // the nodes have found one another
	a := newSite(t, 0, mosquitto)
	a.shares(c, "a", a.hub.DataDir)
	aHub := a.apart("a")
	a.comes(aHub)
	b := *a
	b.client, b.toHub = nil, newProxy(t, a.broker.addrs...)
	b.hub.Broker.URL, b.hub.API = b.toHub.url(), freeAddress(t)
	b.shares(c, "b", filepath.Join(a.dir, "other"))
	bHub := b.apart("b")
	b.comes(bHub)
	first := ownerOfAll(t, kv, 0)
	one, other, dies := a, &b, aHub
	if first == "b" {
		one, other, dies = &b, a, bHub
	}

	begun := time.Now()
	f, err := fleet.Start(t.Context(), fleet.Config{
		Hub: fleet.Hub{Client: other.client, URL: "https://" + other.hub.API, CA: a.keys.CAPEM()}, Dir: filepath.Join(a.dir, "fleet"), Racks: *manyRacks, Servers: *manyEach,
		Image: a.image, Out: io.Discard, From: netip.MustParsePrefix("127.82.0.0/16"), Within: 5 * time.Minute, Backoff: 2 * time.Second, Settle: 300 * time.Millisecond,
		Pace: fleet.Pace{Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Stop: 100 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := f.Claim(t.Context(), fleet.Share{Percent: 100}); err != nil {
		t.Fatal(err)
	}
	inState(t, f, fleet.Installed, time.Time{})
	t.Logf("%d servers of %d racks are installed after %s", *manyRacks**manyEach, *manyRacks, time.Since(begun).Round(10*time.Millisecond))
	boots := granted(t, other.client)

	for _, strike := range []struct {
		what string
		kill func() (start func())
	}{
		{"the hub that works was killed", func() func() { dies.kill(); return func() { one.comes(dies) } }},
		{"the node that leads the stream was killed", func() func() { leader := c.leader(); leader.kill(); return leader.start }},
	} {
		n := newNeedle(t, other.client)
		n.until(3 * time.Second)
		struck := time.Now()
		start := strike.kill()
		n.until(strikeFor)
		start()
		n.until(3 * time.Second)
		n.release()
		n.judge(strike.what, struck)
		inState(t, f, fleet.InStep, time.Time{})
		inState(t, f, fleet.Told, time.Time{})
	}
	ownerOfAll(t, kv, *manyRacks)
	if now := granted(t, other.client); !maps.Equal(now, boots) {
		t.Error("boots were granted that nobody asked for")
	}
}

func inState(t *testing.T, f *fleet.Fleet, s fleet.State, since time.Time) {
	t.Helper()
	if _, err := f.Await(t.Context(), s, since, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
}

// granted are the boots that servers were given, by their names: what was installed, when, and for which agent.
func granted(t *testing.T, c *api.Client) map[string]string {
	t.Helper()
	all, err := api.GetAll[*resource.BootConfiguration](t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, b := range all {
		out[b.Metadata.Name] = fmt.Sprintf("%d %s %x", b.Metadata.Generation, b.Status.GrantFor, b.Status.SignedProvisioned)
	}
	return out
}

// ownerOfAll waits until one hub works the site and so many racks, and returns its name.
func ownerOfAll(t *testing.T, kv state.KV, racks int) string {
	t.Helper()
	var owners map[string]string
	for begun := time.Now(); time.Since(begun) < waitAtMost; time.Sleep(50 * time.Millisecond) {
		owners = workers(t, kv)
		name := owners[fence.Site]
		if name != "" && len(owners) == racks+1 && !slices.ContainsFunc(slices.Collect(maps.Values(owners)), func(o string) bool { return o != name }) {
			return name
		}
	}
	t.Fatalf("no hub works the site and %d racks: %v", racks, owners)
	return ""
}

// needle places holds on one rack after the other, and looks when they are accepted, enforced and fenced. One look is for
// all of them: each by itself is more than a client may ask.
type needle struct {
	t      *testing.T
	client *api.Client
	n      int
	under  sync.WaitGroup

	mu    sync.Mutex
	holds map[string]*pricked // by id
	left  int                 // not fenced yet
}

// pricked is one hold: when it was asked for, and how long after that it came to something.
type pricked struct {
	server                     string
	at                         time.Time
	accepted, enforced, fenced time.Duration
}

func newNeedle(t *testing.T, c *api.Client) *needle {
	return &needle{t: t, client: c, holds: map[string]*pricked{}}
}

// until places holds for so long.
func (n *needle) until(long time.Duration) {
	tick := time.NewTicker(holdEvery)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < long; <-tick.C {
		h := &pricked{server: fmt.Sprintf("fleet-%04d-%02d", n.n%*manyRacks+1, n.n / *manyRacks % *manyEach + 1), at: time.Now()}
		key := fmt.Sprintf("needle-%d-%d", begun.UnixNano(), n.n)
		n.n++
		n.under.Go(func() {
			ctx, cancel := context.WithTimeout(n.t.Context(), waitAtMost)
			defer cancel()
			made, err := n.client.Holds.Create(ctx, h.server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard, Reason: "measured"}})
			if err != nil {
				n.t.Errorf("a hold of %s, %s after it was asked for: %v", h.server, time.Since(h.at).Round(10*time.Millisecond), err)
				return
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			h.accepted = time.Since(h.at)
			n.holds[made.Metadata.Name] = h
			n.left++
		})
		n.look()
	}
}

// look looks at all holds.
func (n *needle) look() {
	all, err := api.GetAll[*resource.Hold](n.t.Context(), n.client)
	if err != nil {
		n.t.Errorf("the holds are not shown: %v", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, now := range all {
		h := n.holds[now.Metadata.Name]
		if h == nil {
			continue
		}
		if w := now.Status.Word; w != resource.HoldAccepted && w != "" && h.enforced == 0 {
			h.enforced = time.Since(h.at)
		}
		if now.Status.Word == resource.HoldFenced && h.fenced == 0 {
			h.fenced = time.Since(h.at)
			n.left--
		}
	}
}

// release waits until all holds are fenced, and releases them.
func (n *needle) release() {
	n.t.Helper()
	n.under.Wait()
	waiting := func() int {
		n.look()
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.left
	}
	for begun := time.Now(); waiting() > 0; time.Sleep(holdEvery) {
		if time.Since(begun) > waitAtMost {
			n.t.Fatalf("%d of %d holds are not fenced", n.left, len(n.holds))
		}
	}
	for id := range n.holds {
		if _, err := n.client.Holds.Release(n.t.Context(), id, api.ReleaseRequest{}); err != nil {
			n.t.Errorf("release: %v", err)
		}
	}
	for begun := time.Now(); ; time.Sleep(holdEvery) {
		all, err := api.GetAll[*resource.Hold](n.t.Context(), n.client)
		if err == nil && len(all) == 0 {
			return
		}
		if time.Since(begun) > waitAtMost {
			n.t.Fatalf("%d holds are there after their release, %v", len(all), err)
		}
	}
}

// judge says how long holds took before and after something.
func (n *needle) judge(what string, at time.Time) {
	n.t.Helper()
	for _, part := range []struct {
		when  string
		after bool
	}{{"before", false}, {"from then on", true}} {
		var accepted, enforced, fenced []time.Duration
		for _, h := range n.holds {
			if h.at.After(at) == part.after {
				accepted, enforced, fenced = append(accepted, h.accepted), append(enforced, h.enforced), append(fenced, h.fenced)
			}
			if late := h.at.Add(h.enforced).Sub(at); *manyWithin > 0 && h.enforced > *manyWithin {
				n.t.Errorf("%s: a hold of %s that was asked for %s later was enforced after %s, %s later", what, h.server, h.at.Sub(at), h.enforced, late)
			}
		}
		n.t.Logf("%s, %s: %d holds; accepted %s; enforced %s; fenced %s (p50, longest)", what, part.when, len(accepted), spread(accepted), spread(enforced), spread(fenced))
		if len(accepted) == 0 {
			n.t.Errorf("no hold %s", part.when)
		}
	}
}

func spread(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	slices.Sort(d)
	return strings.Join([]string{d[len(d)/2].Round(time.Millisecond).String(), d[len(d)-1].Round(time.Millisecond).String()}, ", ")
}
