package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

var (
	hubsSeed = flag.Uint64("hubs.seed", 0, "the first seed of TestTwoHubs")
	hubsRuns = flag.Int("hubs.runs", 12, "runs of TestTwoHubs, each with a seed of its own")
)

// twoHubs is a store that several hubs write. Everything takes its time, so that each judges by what is
// over already. After each write, everything that is stored is held against the rules.
type twoHubs struct {
	*storetest.Memory
	t *testing.T

	mu   sync.Mutex
	rand *mathrand.Rand
	lost int // conflicts
}

func (h *twoHubs) n(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rand.IntN(n)
}

// dawdle is mostly nothing.
func (h *twoHubs) dawdle() {
	if n := h.n(8); n < 4 {
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
}

func (h *twoHubs) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	h.dawdle()
	defer h.judge()
	return h.Memory.Create(ctx, key, value)
}

func (h *twoHubs) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	h.dawdle()
	defer h.judge()
	return h.Memory.Update(ctx, key, value, revision)
}

func (h *twoHubs) Delete(ctx context.Context, key string, revision uint64) error {
	h.dawdle()
	defer h.judge()
	return h.Memory.Delete(ctx, key, revision)
}

func (h *twoHubs) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	h.dawdle()
	defer h.judge()
	revisions, err := h.Memory.Commit(ctx, ops)
	if errors.Is(err, state.ErrConflict) {
		h.mu.Lock()
		h.lost++
		h.mu.Unlock()
	}
	return revisions, err
}

// Watch brings what there is late.
func (h *twoHubs) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	from, err := h.Memory.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	out := make(chan []state.Entry)
	go func() {
		defer close(out)
		for change := range from {
			h.dawdle()
			select {
			case out <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// judge says which rule is broken in what is stored.
func (h *twoHubs) judge() {
	entries, _, err := h.List(context.Background(), "")
	if err != nil {
		h.t.Error(err)
	}
	for _, wrong := range broken(entries) {
		h.t.Error(wrong)
	}
}

// broken says what rules are broken. It knows them from the resources themselves, and not from the
// functions that write them.
func broken(entries []state.Entry) (wrong []string) {
	there := map[string]bool{}
	by := map[string]string{} // what only one may have -> who
	systems := map[string][]*resource.Server{}
	rules := map[string][]string{} // who is in the keys of rules
	want := 0
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	one := func(who, format string, args ...any) {
		want++
		what := fmt.Sprintf(format, args...)
		if other, twice := by[what]; twice {
			add("%s: %s and %s", what, other, who)
		}
		by[what] = who
	}
	var objs []resource.Object
	for _, e := range entries {
		there[e.Key] = true
		var takers []taker
		if strings.HasPrefix(e.Key, "rule.") && json.Unmarshal(e.Value, &takers) == nil {
			for _, t := range takers {
				rules[e.Key] = append(rules[e.Key], string(t.Kind)+"/"+t.Name)
			}
		}
		if c, err := read(e); err != nil {
			add("%s: %v", e.Key, err)
		} else if c.obj != nil {
			objs = append(objs, c.obj)
		}
		var r StoredRequest
		if strings.HasPrefix(e.Key, "request.") && json.Unmarshal(e.Value, &r) == nil && r.Report.Outcome == "" {
			one(r.ID, "ref %s of a request for %s", r.Ref, r.Server)
		}
	}
	for _, obj := range objs {
		who := string(obj.Head().Kind) + "/" + obj.Head().Metadata.Name
		if r, ok := obj.(resource.Referrer); ok {
			for _, ref := range r.References() {
				if ref.Name != "" && !there[keyOf(ref.Kind, ref.Name)] {
					add("%s refers to %s %s, which is not there", who, ref.Kind, ref.Name)
				}
			}
		}
		switch o := obj.(type) {
		case *resource.Server:
			for _, m := range append([]string{o.Spec.BootMAC}, o.Spec.MACs...) {
				one(who, "MAC address %s", m)
			}
			if o.Spec.UUID != "" {
				one(who, "UUID %s", o.Spec.UUID)
			}
			want++
			systems[o.Spec.BMCRef.Name] = append(systems[o.Spec.BMCRef.Name], o)
		case *resource.Claim:
			if s := o.Status.Server; s != "" {
				one(who, "claimed %s", s)
				if !there[keyOf(resource.KindServer, s)] {
					add("%s has %s, which is not there", who, s)
				}
			}
		case *resource.Hold:
			one(who, "hold %s %s %s", o.Spec.Owner, o.Spec.Key, o.Spec.Server)
		}
	}
	for bmc, list := range systems {
		for i, a := range list {
			for _, b := range list[:i] {
				if a.Spec.SystemURI == "" || b.Spec.SystemURI == "" || a.Spec.SystemURI == b.Spec.SystemURI {
					add("systems %q of %s and %q of %s behind %s", a.Spec.SystemURI, a.Metadata.Name, b.Spec.SystemURI, b.Metadata.Name, bmc)
				}
			}
		}
	}
	have := 0
	for _, who := range rules {
		have += len(who)
	}
	if have != want {
		add("%d are in the keys of rules, and %d have something: %v, %v", have, want, rules, by)
	}
	return wrong
}

// hubOf is one of several hubs: a store, and what people and agents do with it at random.
type hubOf struct {
	*twoHubs
	s       *Store
	refused map[protocol.Code]int
	starved int
	crashed int
}

func (h *hubOf) act(ctx context.Context) error {
	server, mac := fmt.Sprintf("n%d", h.n(4)), fmt.Sprintf("52:54:00:00:00:0%d", h.n(5))
	bmc, segment := fmt.Sprintf("b%d", h.n(3)), fmt.Sprintf("s%d", h.n(2))
	claim := fmt.Sprintf("c%d", h.n(3))
	apply := func(objs ...resource.Object) error {
		_, err := h.s.Sets.Apply(ctx, objs, ApplyOptions{By: "admin"})
		return err
	}
	switch h.n(14) {
	case 0, 1, 2:
		n := storetest.Server(server, bmc, segment, mac)
		n.Spec.SystemURI = []string{"", "/redfish/v1/Systems/1", "/redfish/v1/Systems/2"}[h.n(3)]
		if u := h.n(3); u > 0 {
			n.Spec.UUID = fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", u)
		}
		return apply(n)
	case 3: // two exchange an address
		a, errA := Get[*resource.Server](h.s.Objects, "n0")
		b, errB := Get[*resource.Server](h.s.Objects, "n1")
		if errA != nil || errB != nil {
			return nil
		}
		a.Spec.BootMAC, b.Spec.BootMAC = b.Spec.BootMAC, a.Spec.BootMAC
		return apply(a, b)
	case 4:
		_, err := h.s.Delete(ctx, resource.KindServer, server)
		return err
	case 5:
		_, err := h.s.Delete(ctx, resource.KindBMC, bmc)
		return err
	case 6:
		_, err := h.s.Delete(ctx, resource.KindSegment, segment)
		return err
	case 7:
		return apply(storetest.BMC(bmc, "r1"), storetest.Segment(segment, "r1"))
	case 8:
		c := storetest.Claim(claim, server)
		c.Spec.ServerRef, c.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"a": "b"}}
		return apply(c)
	case 9: // as a turn of the site does
		c, err := Get[*resource.Claim](h.s.Objects, claim)
		if err != nil || c.Status.Server != "" {
			return err
		}
		c.Status.Server = server
		return h.s.Objects.Put(ctx, c)
	case 10:
		c, err := Get[*resource.Claim](h.s.Objects, claim)
		if err != nil {
			return err
		}
		return h.s.Objects.Remove(ctx, c)
	case 11:
		hold, err := h.s.Holds.Create(ctx, storetest.Hold("admin", fmt.Sprintf("k%d", h.n(2)), server))
		if err != nil || h.n(2) == 0 {
			return err
		}
		if hold, err = h.s.Holds.Release(ctx, hold.Metadata.Name, "admin", ""); err != nil {
			return err
		}
		return h.s.Objects.Remove(ctx, hold)
	case 12:
		r := StoredRequest{Request: resource.Request{ID: strings.ToLower(rand.Text()), Server: server, By: "admin", Ref: fmt.Sprintf("f%d", h.n(2)), NotAfter: time.Now()}, Rack: "r1"}
		_, err := h.s.Requests.Create(ctx, r)
		return err
	default:
		for _, r := range h.s.Requests.Open() {
			r.Report.Outcome = resource.OutcomeRefused
			return h.s.Requests.Put(ctx, r)
		}
		return nil
	}
}

// work is act until it is enough. A hub that dies between two steps is started again.
func (h *hubOf) work(ctx context.Context, acts int, restart func() *Store) {
	for range acts {
		func() {
			defer func() {
				if p := recover(); p != nil {
					if p != "dies" {
						panic(p)
					}
					h.crashed++
					h.s = restart()
				}
			}()
			err := h.act(ctx)
			switch code := protocol.CodeOf(err); code {
			case "":
			case protocol.CodeConflict, protocol.CodeNotFound, protocol.CodeInvalid:
				h.refused[code]++
				if errors.Is(err, state.ErrConflict) {
					h.starved++
				}
			default:
				h.t.Error(err)
			}
		}()
		h.dawdle()
	}
}

// Two hubs write one store, each with workers of its own and a watch that lags, and die between the
// steps of deletions. At no time are there two servers with one MAC address, two
// holds of one owner, key and server, a server that two claims have, a reference to what is not
// there, or a rule whose keys are not as the resources are.
func TestTwoHubs(t *testing.T) {
	lost, refused, crashed := 0, 0, 0
	for run := range *hubsRuns {
		seed := *hubsSeed + uint64(run)
		synctest.Test(t, func(t *testing.T) {
			kv := &twoHubs{Memory: storetest.NewMemory(), t: t, rand: mathrand.New(mathrand.NewPCG(seed, 1))}
			ctx, stop := context.WithCancel(t.Context())
			var running, working sync.WaitGroup
			start := func() *Store {
				s, err := Open(ctx, Config{KV: kv, Log: kv, Clock: time.Now, NewID: rand.Text, Crash: func(string) {
					if kv.n(20) == 0 {
						panic("dies")
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				running.Go(func() { _ = s.Run(ctx) }) // it returns nil
				return s
			}
			first := start()
			apply(t, first, append(storetest.Site()[:1:1], storetest.Segment("s0", "r1"), storetest.BMC("b0", "r1"))...)
			var hubs []*hubOf
			for _, s := range []*Store{first, start()} {
				for range 3 {
					hubs = append(hubs, &hubOf{twoHubs: kv, s: s, refused: map[protocol.Code]int{}})
				}
			}
			for _, h := range hubs {
				working.Go(func() { h.work(ctx, 60, start) })
			}
			working.Wait()
			for _, h := range hubs {
				for _, n := range h.refused {
					refused += n
				}
				crashed += h.crashed
			}
			lost += kv.lost
			stop()
			running.Wait()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d commits were lost, %d acts were refused, %d hubs died", lost, refused, crashed)
	if lost == 0 || refused == 0 || crashed == 0 {
		t.Error("nothing is shown by that")
	}
}
