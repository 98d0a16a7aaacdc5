package store

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, mem *storetest.Memory) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{
		KV: mem, Log: mem,
		Clock: func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) },
		NewID: rand.Text, // as the contract says never the same twice, also not after opening again
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func apply(t *testing.T, s *Store, objs ...resource.Object) []ApplyResult {
	t.Helper()
	res, err := s.Sets.Apply(t.Context(), objs, ApplyOptions{By: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wantCode(t *testing.T, err error, want protocol.Code) {
	t.Helper()
	if got := protocol.CodeOf(err); got != want {
		t.Fatalf("code %q, want %q (err: %v)", got, want, err)
	}
	if err != nil && want != protocol.CodeInvalid && protocol.HintOf(err) == "" {
		t.Errorf("error %q says not what to do next", err)
	}
}

func TestOpenRefusesWhatItCannotRead(t *testing.T) {
	for key, value := range map[string]string{
		"res.servers.n1": `{"spec":7}`,
		// A boot whose owner is not understood would count as none, and be made anew.
		"res.bootconfigurations.c1": `{"spec":{"server":"n1","claim":"c1","claimUID":"u"}}`,
	} {
		mem := storetest.NewMemory()
		if _, err := mem.Create(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "x" }})
		wantCode(t, err, protocol.CodeInternal)
	}
	_, err := Open(t.Context(), Config{})
	wantCode(t, err, protocol.CodeInvalid)
}

func TestReadsItsOwnWritesWithoutTheWatch(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Rack("r1"))
	agent := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}, Key: make([]byte, 32)}}
	agent.Metadata.Name = "a1"
	if err := s.Objects.Put(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	got, err := Get[*resource.Agent](s.Objects, "a1")
	if err != nil || got.Metadata.UID == "" || got.Metadata.Generation != 1 || got.Metadata.Revision != agent.Metadata.Revision {
		t.Fatalf("got %+v, %v", got, err)
	}
	got.Metadata.Labels = map[string]string{"changed": "copy"}
	if again, _ := Get[*resource.Agent](s.Objects, "a1"); len(again.Metadata.Labels) != 0 {
		t.Fatal("the mirror was changed through a copy")
	}
	stale := *agent
	if err := s.Objects.Put(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Objects.Put(t.Context(), &stale), protocol.CodeConflict)
	wantCode(t, s.Objects.Remove(t.Context(), &stale), protocol.CodeConflict)
	if err := s.Objects.Remove(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	_, err = Get[*resource.Agent](s.Objects, "a1")
	wantCode(t, err, protocol.CodeNotFound)
	if n := len(List[*resource.Agent](s.Objects)); n != 0 {
		t.Fatalf("%d agents listed after removal", n)
	}
}

func TestWatchBringsOtherWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		one, two := open(t, mem), open(t, mem)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- two.Run(ctx) }()
		changed, unsubscribe := two.Subscribe()
		defer unsubscribe()
		apply(t, one, storetest.Rack("r1"), storetest.Rack("r2"))
		synctest.Wait()
		select {
		case <-changed:
		default:
			t.Error("no wake-up")
		}
		select {
		case <-changed:
			t.Error("two changes were not coalesced")
		default:
		}
		if got := List[*resource.Rack](two.Objects); len(got) != 2 || got[0].Metadata.Name != "r1" {
			t.Errorf("got %v", got)
		}
		if _, err := one.Delete(ctx, resource.KindRack, "r1"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := List[*resource.Rack](two.Objects); len(got) != 1 {
			t.Errorf("deletion did not arrive: %v", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A watch that lags behind must not bring back what the store has since changed
// itself.
func TestLateWatchDoesNotUndoOwnWrites(t *testing.T) {
	m := newMirror()
	entry := func(rev uint64, v string) cached {
		return cached{Entry: state.Entry{Key: "res.racks.a", Value: []byte(v), Revision: rev}}
	}
	gone := func(rev uint64) cached {
		return cached{Entry: state.Entry{Key: "res.racks.a", Revision: rev, Deleted: true}}
	}
	m.apply(entry(1, "one"))
	m.apply(entry(3, "three"))
	m.applyWatched(entry(1, "one"))
	if e, _ := m.get("res.racks.a"); string(e.Value) != "three" {
		t.Fatalf("late watch undid a write: %q", e.Value)
	}
	m.bury("res.racks.a", 3)
	m.applyWatched(entry(3, "three"))
	if _, ok := m.get("res.racks.a"); ok {
		t.Fatal("late watch undid a deletion")
	}
	m.apply(entry(5, "five")) // created again before the watch brings the deletion
	m.applyWatched(gone(4))
	if e, ok := m.get("res.racks.a"); !ok || string(e.Value) != "five" {
		t.Fatal("late deletion removed a new resource")
	}
	m.applyWatched(gone(6))
	if _, ok := m.get("res.racks.a"); ok || len(m.buckets["res.racks"]) != 0 {
		t.Fatal("deletion by another writer was lost, or a tombstone stayed")
	}
}

func TestRunOpensABrokenWatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		breaking := &breakingWatch{Memory: mem}
		s, err := Open(t.Context(), Config{KV: breaking, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		apply(t, open(t, mem), storetest.Rack("r1"))
		time.Sleep(2 * rewatchAfter)
		synctest.Wait()
		if len(List[*resource.Rack](s.Objects)) != 1 {
			t.Error("a change was lost with a broken watch")
		}
		cancel()
		<-done
	})
}

// breakingWatch fails its first Watch.
type breakingWatch struct {
	*storetest.Memory
	broken bool
}

func (b *breakingWatch) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	if !b.broken {
		b.broken = true
		return nil, errors.New("no stream")
	}
	return b.Memory.Watch(ctx, prefix, after)
}

// What this process wrote, and somebody deleted before it could note that, stays deleted: the
// watch has come past both, and brings neither again.
func TestLateNoteOfAWriteRevivesNothing(t *testing.T) {
	entry := func(revision uint64, deleted bool) cached {
		return cached{Entry: state.Entry{Key: "meta.a", Value: []byte("x"), Revision: revision, Deleted: deleted}}
	}
	for name, note := range map[string]func(*mirror, ...cached){"a write": (*mirror).apply, "a commit": (*mirror).applyOwn} {
		m := newMirror()
		m.applyWatched(entry(10, false))
		m.applyWatched(entry(11, true))
		note(m, entry(10, false))
		if e, ok := m.get("meta.a"); ok {
			t.Errorf("%s: revision %d is back", name, e.Revision)
		}
		note(m, entry(12, false))
		if _, ok := m.get("meta.a"); !ok {
			t.Errorf("%s: a newer one is not there", name)
		}
	}
}

// A key that the mirror has and the store has not leaves the mirror when somebody loses to
// that, also where the watch says nothing of it.
func TestLoserForgetsWhatIsGone(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) }) // it returns nil
	defer running.Wait()
	defer stop()
	for deadline := time.Now().Add(time.Minute); !s.core.following.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is watched")
		}
	}
	s.core.mirror.apply(cached{Entry: state.Entry{Key: "meta.ghost", Value: []byte("x"), Revision: 1 << 20}})
	if err := s.core.remove(ctx, "meta.ghost", 1<<20); err == nil {
		t.Fatal("what is not there was removed")
	}
	if _, ok := s.core.mirror.get("meta.ghost"); ok {
		t.Error("it stays in the mirror")
	}
}
