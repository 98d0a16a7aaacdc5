package store

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// localWorld is a hub that hears of things late, loses documents and holds, and an
// agent at which people act meanwhile.
type localWorld struct {
	db      state.Store
	s       *Store
	now     time.Time
	version uint64
	next    int
	sent    []message.HoldDoc              // made, in order; some were never delivered
	hub     map[string]resource.ActiveHold // that the hub names
	frees   []resource.Release             // that it sends until they were applied
	lies    map[string]resource.ActiveHold // that must lie at the agent
	ended   map[string]bool                // that were released, anywhere
	here    map[string]bool                // of those, at the agent
}

func (w *localWorld) id(where string) string {
	w.next++
	return fmt.Sprintf("%s-%d", where, w.next)
}

func (w *localWorld) make() message.HoldDoc {
	w.version++
	d := message.HoldDoc{Head: protocol.Head{Version: w.version}, IssuedAt: w.now, Releases: slices.Clone(w.frees)}
	for _, id := range slices.Sorted(maps.Keys(w.hub)) {
		d.Holds = append(d.Holds, w.hub[id])
	}
	w.sent = append(w.sent, d)
	return d
}

func (w *localWorld) deliver(t *rapid.T, d message.HoldDoc) (fresh bool) {
	a, err := w.s.Documents.Applied()
	if err != nil {
		t.Fatal(err)
	}
	fresh = d.Head.Newer(a.Heads[message.LeafHold])
	if _, _, err := w.s.Documents.ApplyHolds(w.now, d, fmt.Sprint(d.Head.Version)); fresh && err != nil {
		t.Fatal(err)
	}
	return fresh
}

// pick draws one of the keys, or "" of none.
func pick[V any](t *rapid.T, what string, m map[string]V) string {
	if len(m) == 0 {
		return ""
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(t, what)
}

func (w *localWorld) start(t *rapid.T) {
	s, err := Open(Config{DB: w.db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	w.s = s
}

func (w *localWorld) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"hub places": func(*rapid.T) {
			h := here(w.id("hub"), "n1", fmt.Sprint(w.next), "o")
			w.hub[h.ID] = h
		},
		"hub releases": func(t *rapid.T) {
			if id := pick(t, "hold", w.hub); id != "" {
				delete(w.hub, id)
				w.frees = append(w.frees, resource.Release{HoldID: id, Server: "n1", By: "o", At: w.now})
			}
		},
		"hub loses": func(t *rapid.T) { delete(w.hub, pick(t, "hold", w.hub)) },
		"hub adopts": func(t *rapid.T) {
			id := pick(t, "hold", w.lies)
			freed := slices.ContainsFunc(w.frees, func(r resource.Release) bool { return r.HoldID == id })
			if id != "" && !freed {
				w.hub[id] = w.lies[id]
			}
		},
		"hub hears of releases": func(*rapid.T) {
			maps.DeleteFunc(w.hub, func(id string, _ resource.ActiveHold) bool { return w.here[id] })
		},
		"document is made and lost": func(*rapid.T) { w.make() },
		"document comes": func(t *rapid.T) {
			d := w.make()
			if !w.deliver(t, d) {
				t.Fatal("the newest is not fresh")
			}
			w.frees = nil
			w.took(d)
		},
		"document comes late, or again": func(t *rapid.T) {
			if len(w.sent) == 0 {
				return
			}
			if d := rapid.SampledFrom(w.sent).Draw(t, "document"); w.deliver(t, d) {
				w.took(d)
			}
		},
		"held here": func(t *rapid.T) {
			h := here(w.id("local"), "n1", rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key"), rapid.SampledFrom([]string{"local:ann", "local:bob"}).Draw(t, "owner"))
			held, fresh, err := w.s.Local.Hold(w.now, h)
			if err != nil {
				t.Fatal(err)
			}
			if _, lay := w.lies[held.ID]; lay == fresh || fresh != (held.ID == h.ID) {
				t.Fatalf("%s is fresh: %t", held.ID, fresh)
			}
			w.lies[held.ID] = held.ActiveHold
		},
		"released here": func(t *rapid.T) {
			id := pick(t, "hold", w.lies)
			if id == "" {
				return
			}
			if _, err := w.s.Local.Release(w.now, id, "local:ann", "it burns"); err != nil {
				t.Fatal(err)
			}
			delete(w.lies, id)
			w.ended[id], w.here[id] = true, true
		},
		"denied here": func(t *rapid.T) {
			id := pick(t, "hold", w.lies)
			if _, err := w.s.Local.Release(w.now, id, "local:eve", ""); err == nil {
				t.Fatalf("%q was released", id)
			}
		},
		"the agent starts again": w.start,
		"":                       func(t *rapid.T) { w.check(t) },
	}
}

// took is what an applied document changes: only its releases end holds.
func (w *localWorld) took(d message.HoldDoc) {
	for _, r := range d.Releases {
		delete(w.lies, r.HoldID)
		w.ended[r.HoldID] = true
	}
	for _, h := range d.Holds {
		if !w.ended[h.ID] {
			w.lies[h.ID] = h
		}
	}
}

func (w *localWorld) check(t *rapid.T) {
	w.now = w.now.Add(time.Second)
	lie, _, err := w.s.Local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]resource.ActiveHold{}
	for _, h := range lie {
		have[h.ID] = h.ActiveHold
		if h.Local && h.Missing {
			t.Fatalf("%+v", h)
		}
	}
	w.s.mirrorIsTrue(t)
	if !maps.Equal(have, w.lies) {
		t.Fatalf("lies %v, want %v", slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(w.lies)))
	}
}

// TestLocalHoldsAreKept: over documents that come late, again, or not at all, and
// leave out what they like, a hold lies from its enforcement to its release by id, and
// never again (P1).
func TestLocalHoldsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &localWorld{
			db: statetest.NewMemory(), now: tombstoneStart, hub: map[string]resource.ActiveHold{}, lies: map[string]resource.ActiveHold{},
			ended: map[string]bool{}, here: map[string]bool{},
		}
		w.start(t)
		if _, _, err := w.s.Documents.ApplyRack(message.RackDoc{Head: protocol.Head{Version: 1}, Shards: 1, Servers: []message.ServerIntent{{Server: "n1"}}}, "r",
			func(message.ServerIntent) (*Credentials, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		t.Repeat(w.actions())
	})
}
