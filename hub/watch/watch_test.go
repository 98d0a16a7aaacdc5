package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

func row7() access.Caller {
	return access.Caller{Name: "row7", Roles: []access.Role{access.Viewer}, Scope: access.Scope{MatchLabels: map[string]string{"row": "7"}}}
}

// Whatever is written and reported while watches begin, end and go on: once that stops, each has what a list says.
func TestWatchEndsWithWhatAListSays(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSite(t, nil)
			s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"))
			row := func(r *resource.Server) bool { return r.Metadata.Labels["row"] == "7" }
			reserved := func(r *resource.Server) bool { return r.Status.Phase == resource.PhaseReserved }
			questions := []struct {
				who                  access.Caller
				labels, fields, only string
				match                func(*resource.Server) bool
			}{
				{admin(), "", "", "", all},
				{admin(), "row=7", "", "", row},
				{admin(), "", "status.phase=Reserved", "", reserved},
				{row7(), "", "", "", row},
				{admin(), "", "", "metadata.name,metadata.uid", all},
				{admin(), "", "", "metadata.labels", all},
				{admin(), "", "", "status.phase,metadata.uid", all},
				{admin(), "row=7", "", "metadata.uid", row},
				{admin(), "", "status.phase=Reserved", "metadata.uid", reserved},
				{row7(), "", "", "status.phase", row},
			}
			rnd := rand.New(rand.NewPCG(seed, 1))
			act := func() {
				name := fmt.Sprint("n", rnd.IntN(12))
				there := s.Objects.PeekOf(resource.KindServer, name) != nil
				switch n := rnd.IntN(10); {
				case n < 2 && there:
					s.remove(t, name)
				case n < 5 && there:
					s.change(t, name, func(o *resource.Server) { o.Metadata.Labels = map[string]string{"row": fmt.Sprint(6 + rnd.IntN(3))} })
				case n < 8 && there:
					s.phases.set(name, []resource.Phase{resource.PhaseReserved, resource.PhaseAvailable}[rnd.IntN(2)])
					if rnd.IntN(2) == 0 { // else nobody says so
						s.room.Told("r1", name)
					}
				case !there:
					s.put(t, server(name, "7"))
				}
			}
			var readers []*reader
			for i := range 60 {
				for range rnd.IntN(8) {
					act()
				}
				q := questions[i%len(questions)]
				if len(readers) < 2*len(questions) {
					r := newReader()
					r.only = q.only
					readers = append(readers, r)
					s.watch(t, r, q.who, q.labels, q.fields)
					continue
				}
				at := rnd.IntN(len(readers)) // one is cut off, and goes on
				readers[at].end()
				for range rnd.IntN(4) {
					act()
				}
				q = questions[at%len(questions)]
				s.watch(t, readers[at], q.who, q.labels, q.fields)
			}
			for i, r := range readers {
				q := questions[i%len(questions)]
				want := s.list(q.match, q.only)
				r.await(t, "all: "+want, func() bool { return r.synced > 0 && r.seen == nil && r.state() == want })
			}
		})
	}
}

// A hub that is started anew tells everything again, and so what went while nobody looked.
func TestWatchGoesOnOverARestart(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "7"))
	r := newReader()
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced", func() bool { return r.synced == 1 })
	s.stop()
	<-r.ended
	was := r.has("n1").Digest
	if last := r.lines[len(r.lines)-1]; last.Type != protoapi.WatchEnd || last.Problem == nil || last.Problem.Code != protocol.CodeUnavailable {
		t.Errorf("a hub that stops says %+v", last)
	}
	s.remove(t, "n2")
	s.start(t, nil)
	s.put(t, server("n3", "7"))
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced again", func() bool { return r.synced == 2 })
	want := s.list(all)
	r.await(t, want, func() bool { return r.state() == want })
	r.end()
	if r.has("n1").Digest != was {
		t.Error("the digest of what has not changed is another one")
	}
}

// Who comes back to the same run is told what has changed meanwhile, and nothing else.
func TestWatchGoesOnFromAPosition(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Round = time.Hour })
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "7"), server("n3", "7"))
	r := newReader()
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced", func() bool { return r.synced == 1 })
	// What came before it began is told once more, before what comes now.
	s.put(t, server("n4", "7"))
	r.await(t, "n4", func() bool { return r.known["n4"].Name != "" })
	other := newReader() // with nobody, what is heard of the rack would count as changed
	s.watch(t, other, admin(), "", "")
	other.await(t, "synced", func() bool { return other.synced == 1 })
	r.end()
	s.room.mu.Lock()
	r.at = position{"run1", s.room.seq}.token(question(resource.KindServer, "", "", "", "admin", admin().Scope.String()))
	s.room.mu.Unlock()
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["row"] = "8" })
	s.remove(t, "n2")
	r.lines = nil // it has ended
	// Its news has been looked at before it comes back.
	want := s.list(all)
	other.await(t, "all", func() bool { return other.synced == 1 && other.state() == want })
	s.watch(t, r, admin(), "", "")
	r.await(t, "all", func() bool { return r.synced == 2 && r.state() == want })
	r.end()
	other.end()
	for _, e := range r.lines {
		if e.Type == protoapi.WatchAgain || e.Name == "n3" {
			t.Errorf("told %s %s", e.Type, e.Name)
		}
	}
	// Of somebody else, or of another question, a position is none.
	for _, q := range []struct {
		who    access.Caller
		labels string
	}{{row7(), ""}, {admin(), "row=7"}} {
		r := newReader()
		r.at = other.at
		s.watch(t, r, q.who, q.labels, "")
		r.await(t, "synced", func() bool { return r.synced == 1 })
		r.end()
		if r.lines[0].Type != protoapi.WatchAgain {
			t.Errorf("%v: begins with %s", q, r.lines[0].Type)
		}
	}
}

// What leaves a scope or a selector is gone, whether the resource moves or its rack does; and nobody hears a name that
// he may not see.
func TestWatchOfAScope(t *testing.T) {
	s := newSite(t, nil)
	rack := storetest.Rack("r1")
	s.put(t, rack, storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "8"), server("n3", ""))
	scoped, selecting := newReader(), newReader()
	s.watch(t, scoped, row7(), "", "")
	s.watch(t, selecting, admin(), "row=7", "")
	has := func(r *reader, names string) func() bool {
		return func() bool {
			var got []string
			for part := range strings.FieldsSeq(r.state()) {
				name, _, _ := strings.Cut(part, "/")
				got = append(got, name)
			}
			return strings.Join(got, " ") == names
		}
	}
	both := func(names string) {
		t.Helper()
		scoped.await(t, names, has(scoped, names))
		selecting.await(t, names, has(selecting, names))
	}
	both("n1")
	s.change(t, "n2", func(o *resource.Server) { o.Metadata.Labels["row"] = "7" })
	both("n1 n2")
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["row"] = "8" })
	both("n2")
	r1, err := store.Get[*resource.Rack](s.Objects, "r1")
	if err != nil {
		t.Fatal(err)
	}
	r1.Metadata.Labels = map[string]string{"row": "7"}
	s.put(t, r1)
	both("n2 n3")
	s.put(t, server("n9", "8")) // n1 and n9 are nobody's business
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["x"] = "y" })
	if r1, err = store.Get[*resource.Rack](s.Objects, "r1"); err != nil {
		t.Fatal(err)
	}
	r1.Metadata.Labels = map[string]string{"row": "9"}
	s.put(t, r1)
	both("n2")
	gone := map[string]int{}
	for _, r := range []*reader{scoped, selecting} {
		r.end()
		for _, e := range r.lines {
			if e.Name == "n9" {
				t.Errorf("told %s %s", e.Type, e.Name)
			}
			if e.Type == protoapi.WatchGone {
				gone[e.Name]++
			}
		}
	}
	if gone["n1"] != 2 || gone["n3"] != 2 {
		t.Errorf("gone %v", gone)
	}
}

// A server that was deleted and made anew under its name is another one.
func TestWatchOfOneMadeAnew(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"))
	r := newReader()
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced", func() bool { return r.synced == 1 })
	for range 20 {
		s.remove(t, "n1")
		s.put(t, server("n1", "7"))
	}
	want := s.list(all)
	r.await(t, want, func() bool { return r.state() == want })
}

// That a server was read again is no news; nor is it any that it was looked at.
func TestReadsAreNoNews(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "7"))
	r := newReader()
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced", func() bool { return r.synced == 1 })
	// What came before the watch may be told once more, before what comes now.
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["row"] = "8" })
	before := s.list(all)
	r.await(t, before, func() bool { return r.state() == before })
	told := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.lines {
			if e.Type == protoapi.WatchPut && e.Name == "n1" {
				n++
			}
		}
		return n
	}
	puts := told()
	looks := testutil.ToFloat64(s.room.metrics.made)
	for testutil.ToFloat64(s.room.metrics.made) < looks+20 {
		s.room.Told("r1", "n1")
		time.Sleep(time.Millisecond)
	}
	s.phases.set("n2", resource.PhaseReserved)
	r.await(t, "Reserved", func() bool { return strings.Contains(r.state(), "Reserved") })
	if n := told(); n != puts {
		t.Errorf("n1 was told %d times, and %d times more", puts, n-puts)
	}
}

// puts counts what a reader was told of a name.
func (r *reader) puts(name string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.lines {
		if e.Type == protoapi.WatchPut && e.Name == name {
			n++
		}
	}
	return n
}

// Who wants some fields is told of them, and only when one of them changes.
func TestOnlyWhatIsSelectedIsTold(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Gather = time.Hour }) // what is written is looked at in its order, and nothing else
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "7"))
	names, labels, spec, selected := newReader(), newReader(), newReader(), newReader()
	names.only, labels.only, spec.only, selected.only = "metadata.name", "metadata.labels", "spec.macs", "metadata.name"
	for _, r := range []*reader{names, labels, spec} {
		s.watch(t, r, admin(), "", "")
	}
	s.watch(t, selected, admin(), "row!=9", "")
	for _, r := range []*reader{names, labels, spec, selected} {
		r.await(t, "synced", func() bool { return r.synced == 1 })
	}
	if got := string(names.has("n1").Object); got != `{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1"}}` {
		t.Error(got)
	}
	// What came before a watch may be told once more: let all of that be over.
	s.put(t, server("n3", "7"))
	for _, r := range []*reader{names, labels, spec, selected} {
		r.await(t, "n3", func() bool { return r.known["n3"].Name != "" })
	}
	before := [...]int{names.puts("n1"), labels.puts("n1"), spec.puts("n1"), selected.puts("n1")}
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["row"] = "8" })
	s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["row"] = "9" })
	s.change(t, "n1", func(o *resource.Server) { o.Spec.MACs = append(o.Spec.MACs, "52:54:00:00:77:77") })
	s.put(t, server("n4", "7"))
	for _, r := range []*reader{names, labels, spec, selected} {
		r.await(t, "n4", func() bool { return r.known["n4"].Name != "" })
	}
	after := [...]int{names.puts("n1"), labels.puts("n1"), spec.puts("n1"), selected.puts("n1")}
	if after[0] != before[0] || after[1] == before[1] || after[2] == before[2] {
		t.Errorf("n1 was told %v times, and then %v", before, after)
	}
	if selected.has("n1").Name != "" {
		t.Error("it is not selected any more, and nobody said so")
	}
	s.phases.mu.Lock()
	defer s.phases.mu.Unlock()
	if s.phases.made != 0 {
		t.Errorf("%d times a status was made that nobody wants", s.phases.made)
	}
}

// A caller's own reboot annotations are told with the fields that he wants, and nothing besides.
func TestOnlyWithAnnotationsOfHisOwn(t *testing.T) {
	s := newSite(t, nil)
	srv := server("n1", "7")
	srv.Status.Reboots = []resource.RebootSet{{By: "admin", Annotation: "reboot.metal3.io/k", Value: "{}"}}
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), srv)
	r := newReader()
	r.only = "metadata.annotations"
	s.watch(t, r, admin(), "", "")
	r.await(t, "synced", func() bool { return r.synced == 1 })
	r.end()
	if got := string(r.has("n1").Object); got != `{"apiVersion":"rackboot/v1","kind":"Server","metadata":{"name":"n1","annotations":{"reboot.metal3.io/k":"{}"}}}` {
		t.Error(got)
	}
}

// There is room for some selections; who comes with one more is told of all changes.
func TestSelectionsAreBounded(t *testing.T) {
	s := newSite(t, nil)
	ask := func(label string) Ask {
		only, err := selector.ParseOnly("metadata.labels."+label, resource.KindServer)
		if err != nil {
			t.Fatal(err)
		}
		return Ask{Kind: resource.KindServer, Who: admin(), Only: only}
	}
	var open []*Watch
	for i := range mostViews + 1 {
		w, err := s.room.Begin(ask(fmt.Sprint("l", i)))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, w)
		if all := w.board.view.only.All(); all != (i == mostViews) || w.judge.less != all {
			t.Errorf("%d: all %t, less %t", i, all, w.judge.less)
		}
	}
	if got := testutil.ToFloat64(s.room.metrics.views); got != mostViews {
		t.Errorf("%v are counted", got)
	}
	open[3].end(whyReader)
	w, err := s.room.Begin(ask("other"))
	if err != nil || w.board.view.only.All() {
		t.Errorf("there is no room although one has ended: %v", err)
	}
	again, err := s.room.Begin(ask("l5"))
	if err != nil || again.board != open[5].board {
		t.Errorf("two watches of one selection have two boards: %v", err)
	}
	for _, w := range append(slices.Delete(open, 3, 4), w, again) {
		w.end(whyReader)
	}
}

// Who reads nothing has each name once in his queue, and delays nobody. Once he reads he has the newest of each.
func TestASlowReaderHasTheNewest(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"), server("n2", "7"))
	slow, other := newReader(), newReader()
	slow.stalled = make(chan struct{})
	s.watch(t, slow, admin(), "", "")
	s.watch(t, other, admin(), "", "")
	for i := range 200 {
		s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels["x"] = fmt.Sprint(i) })
	}
	want := s.list(all)
	other.await(t, want, func() bool { return other.state() == want })
	s.room.mu.Lock()
	for w := range s.room.open {
		if n := w.queue.len(); n > 2 {
			t.Errorf("%d in a queue of 2 servers", n)
		}
	}
	s.room.mu.Unlock()
	close(slow.stalled)
	slow.await(t, want, func() bool { return slow.state() == want })
	slow.end()
	if n := len(slow.lines); n > 20 {
		t.Errorf("%d lines for one that slept", n)
	}
}

// Who takes very long to read is told so, and ended.
func TestAReaderThatIsTooSlowIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "01id" }})
		if err != nil {
			t.Fatal(err)
		}
		room := New(Config{Store: st, Status: &phases{now: map[string]resource.Phase{}}, Run: "r", Registerer: prometheus.NewRegistry()})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = room.Run(ctx) })
		w, err := room.Begin(Ask{Kind: resource.KindServer, Who: admin()})
		if err != nil {
			t.Fatal(err)
		}
		r, first := newReader(), true
		w.Run(ctx, func(lines [][]byte) error {
			if !first {
				time.Sleep(slowAfter + time.Second)
			}
			first = false
			for _, l := range lines {
				if err := r.take(l); err != nil {
					return err
				}
			}
			return nil
		})
		last := r.lines[len(r.lines)-1]
		if last.Type != protoapi.WatchEnd || last.Problem == nil || last.Problem.Code != protocol.CodeUnavailable || last.Problem.Hint == "" {
			t.Errorf("told %+v", last)
		}
		if n := testutil.ToFloat64(room.metrics.ended.WithLabelValues(string(whySlow))); n != 1 {
			t.Errorf("%v ended as slow", n)
		}
		cancel()
		running.Wait()
	})
}

// Who may read no longer is ended at the next beat, and watches end in time, with a bookmark.
func TestWatchesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "01id" }})
		if err != nil {
			t.Fatal(err)
		}
		room := New(Config{Store: st, Status: &phases{now: map[string]resource.Phase{}}, Run: "r", Registerer: prometheus.NewRegistry(), Most: 3, MostOfCaller: 2})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = room.Run(ctx) })
		began := time.Now()
		run := func(ask Ask) (*reader, time.Duration) {
			w, err := room.Begin(ask)
			if err != nil {
				t.Fatal(err)
			}
			r, began := newReader(), time.Now()
			w.Run(ctx, func(lines [][]byte) error {
				for _, l := range lines {
					if err := r.take(l); err != nil {
						return err
					}
				}
				return nil
			})
			return r, time.Since(began)
		}
		still := func() bool { return time.Since(began) < 25*time.Second }
		if _, took := run(Ask{Kind: resource.KindServer, Who: admin(), Still: still}); took != 30*time.Second {
			t.Errorf("ended after %s", took)
		}
		r, took := run(Ask{Kind: resource.KindServer, Who: admin()})
		last := r.lines[len(r.lines)-1]
		if took < protoapi.WatchWait*8/10 || took >= protoapi.WatchWait || last.Type != protoapi.WatchBookmark || last.Position == "" {
			t.Errorf("ended after %s with %+v", took, last)
		}
		for i := 1; i < len(r.lines); i++ {
			if r.lines[i].Type == protoapi.WatchBookmark && r.lines[i].Position == "" {
				t.Error("a bookmark without a position")
			}
		}
		if beats := len(r.lines); beats < int(took/protoapi.WatchBeat) {
			t.Errorf("%d lines in %s", beats, took)
		}
		// There is room for so many.
		var open []*Watch
		for range 2 {
			w, err := room.Begin(Ask{Kind: resource.KindServer, Who: admin()})
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, w)
		}
		if _, err := room.Begin(Ask{Kind: resource.KindServer, Who: admin()}); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("a third one of one caller: %v", err)
		}
		if w, err := room.Begin(Ask{Kind: resource.KindServer, Who: row7()}); err != nil {
			t.Errorf("one of another: %v", err)
		} else {
			open = append(open, w)
		}
		if _, err := room.Begin(Ask{Kind: resource.KindServer, Who: access.Caller{Name: "third"}}); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("a fourth one: %v", err)
		}
		for _, w := range open {
			w.end(whyReader)
		}
		if len(room.open) != 0 || len(room.by) != 0 {
			t.Errorf("%d open, %v", len(room.open), room.by)
		}
		// Nobody has watched for long: what was known is forgotten.
		time.Sleep(keepBoard + 2*time.Second)
		room.mu.Lock()
		if len(room.boards) != 0 {
			t.Errorf("%d kinds are kept after %s", len(room.boards), time.Since(began))
		}
		room.mu.Unlock()
		cancel()
		running.Wait()
	})
}

// FuzzPosition: no token panics, one that is read is the one that was made, and it is of its question only.
func FuzzPosition(f *testing.F) {
	f.Add("", "Server", uint64(0))
	f.Add(position{"01run", 7}.token("Server"), "Server", uint64(7))
	f.Fuzz(func(t *testing.T, token, of string, seq uint64) {
		if p, ok := readPosition(token, of); ok && p.token(of) != token {
			t.Errorf("%+v of %q is %q", p, token, p.token(of))
		}
		own := position{"01run", seq}
		if got, ok := readPosition(own.token(of), of); !ok || got != own {
			t.Errorf("%+v, %t; want %+v", got, ok, own)
		}
		if _, ok := readPosition(own.token(of), of+"x"); ok {
			t.Error("a position of another question is taken")
		}
	})
}
