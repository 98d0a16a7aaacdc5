package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// phases decorates servers with phases that it was told.
type phases struct {
	mu  sync.Mutex
	now map[string]resource.Phase
	// read says when servers were read, which is no news.
	read time.Time
	made int // how often a status was
}

func (p *phases) set(server string, phase resource.Phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now[server] = phase
}

// Decorate implements Decorator.
func (p *phases) Decorate(obj resource.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	if s, ok := obj.(*resource.Server); ok {
		s.Status.Phase = p.now[s.Metadata.Name]
		p.read = p.read.Add(time.Second)
		at := p.read
		s.Status.ReadAt = &at
	}
}

// site is a store with a room of watches, which can be started anew over what is stored.
type site struct {
	*store.Store
	kv     *storetest.Memory
	phases *phases
	room   *Room
	stop   func()
	runs   int
}

func newSite(t testing.TB, change func(*Config)) *site {
	t.Helper()
	s := &site{kv: storetest.NewMemory(), phases: &phases{now: map[string]resource.Phase{}, read: time.Unix(1e9, 0)}}
	s.start(t, change)
	t.Cleanup(func() { s.stop() })
	return s
}

// start starts a hub over what is stored.
func (s *site) start(t testing.TB, change func(*Config)) {
	t.Helper()
	ids := 0
	var mu sync.Mutex
	s.runs++
	run := s.runs
	st, err := store.Open(context.Background(), store.Config{KV: s.kv, Log: s.kv, Clock: time.Now, NewID: func() string {
		mu.Lock()
		defer mu.Unlock()
		ids++
		return fmt.Sprintf("01run%d%06d", run, ids)
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Store = st
	cfg := Config{Store: st, Status: s.phases, Run: fmt.Sprint("run", run), Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler), Gather: 5 * time.Millisecond, Round: 10 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	s.room = New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	room := s.room
	ended.Go(func() {
		if err := room.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	s.stop = func() {
		cancel()
		ended.Wait()
	}
}

func (s *site) put(t testing.TB, objs ...resource.Object) {
	t.Helper()
	for _, o := range objs {
		if err := s.Objects.Put(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// reader is who watches: it keeps what it was told, as a client does.
type reader struct {
	mu      sync.Mutex
	cond    *sync.Cond
	known   map[string]protoapi.WatchEvent
	lines   []protoapi.WatchEvent
	seen    map[string]bool // since again
	synced  int
	at      string
	stop    context.CancelFunc
	ended   chan struct{}
	stalled chan struct{} // writes wait for it, where it is there
	only    string        // the fields that it wants
}

func newReader() *reader {
	r := &reader{known: map[string]protoapi.WatchEvent{}}
	r.cond = sync.NewCond(&r.mu)
	return r
}

// who everybody is that may see everything.
func admin() access.Caller { return access.Caller{Name: "admin", Roles: []access.Role{access.Admin}} }

// watch begins a watch of servers at the reader's position.
func (s *site) watch(t testing.TB, r *reader, who access.Caller, labels, fields string) {
	t.Helper()
	ask := Ask{Kind: resource.KindServer, Who: who, Selector: labels, Field: fields, Position: r.at}
	var err error
	if ask.Labels, err = selector.Parse(labels); err != nil {
		t.Fatal(err)
	}
	if ask.Fields, err = selector.ParseFields(fields, ask.Kind); err != nil {
		t.Fatal(err)
	}
	if ask.Only, err = selector.ParseOnly(r.only, ask.Kind); err != nil {
		t.Fatal(err)
	}
	w, err := s.room.Begin(ask)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.ended, r.seen = cancel, make(chan struct{}), nil
	go func() {
		defer close(r.ended)
		w.Run(ctx, func(lines [][]byte) error {
			if r.stalled != nil {
				select {
				case <-r.stalled:
				case <-ctx.Done():
				}
			}
			return r.take(bytes.Join(lines, nil))
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
	})
}

func (r *reader) end() {
	r.stop()
	<-r.ended
}

func (r *reader) take(raw []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.cond.Broadcast()
	scan := bufio.NewScanner(bytes.NewReader(raw))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var e protoapi.WatchEvent
		if err := json.Unmarshal(scan.Bytes(), &e); err != nil {
			return err
		}
		r.lines = append(r.lines, e)
		switch e.Type {
		case protoapi.WatchAgain:
			r.seen = map[string]bool{}
		case protoapi.WatchPut:
			r.known[e.Name] = e
			if r.seen != nil {
				r.seen[e.Name] = true
			}
		case protoapi.WatchGone:
			delete(r.known, e.Name)
			delete(r.seen, e.Name)
		case protoapi.WatchSynced:
			if r.seen != nil {
				maps.DeleteFunc(r.known, func(name string, _ protoapi.WatchEvent) bool { return !r.seen[name] })
			}
			r.seen, r.at = nil, e.Position
			r.synced++
		case protoapi.WatchBookmark:
			if e.Position != "" && r.seen == nil {
				r.at = e.Position
			}
		case protoapi.WatchEnd:
		}
	}
	return scan.Err()
}

// await waits until the reader has what is wanted.
func (r *reader) await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.at = "late"
		r.cond.Broadcast()
	})
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !ok() {
		if r.at == "late" {
			t.Fatalf("never %s; has %v; synced %d, told %d lines, the last %+v", what, r.state(), r.synced, len(r.lines), r.lines[max(0, len(r.lines)-3):])
		}
		r.cond.Wait()
	}
}

// has is what the reader was told last of a resource; zero of one that it does not have.
func (r *reader) has(name string) protoapi.WatchEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[name]
}

// state is what the reader has: names with uid, phase and labels.
func (r *reader) state() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.known)) {
		var s resource.Server
		if err := json.Unmarshal(r.known[name].Object, &s); err != nil {
			return err.Error()
		}
		out = append(out, stateOf(&s))
	}
	return strings.Join(out, " ")
}

func stateOf(s *resource.Server) string {
	return fmt.Sprintf("%s/%s/%d/%s/%v", s.Metadata.Name, s.Metadata.UID, s.Metadata.Revision, s.Status.Phase, s.Metadata.Labels)
}

// list is what a list says of the servers that match.
func (s *site) list(match func(*resource.Server) bool, only ...string) string {
	var out []string
	o, err := selector.ParseOnly(strings.Join(only, ","), resource.KindServer)
	if err != nil {
		return err.Error()
	}
	for _, stored := range store.List[*resource.Server](s.Objects) {
		own := store.Copy(s.Objects, stored)
		s.phases.Decorate(own)
		if !match(own) {
			continue
		}
		raw, err := json.Marshal(own)
		if err == nil {
			raw, err = o.Of(raw)
		}
		var cut resource.Server
		if err == nil {
			err = json.Unmarshal(raw, &cut)
		}
		if err != nil {
			return err.Error()
		}
		out = append(out, stateOf(&cut))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func all(*resource.Server) bool { return true }

func server(name, row string) *resource.Server {
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		panic(err)
	}
	s := storetest.Server(name, "b1", "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8, n&255))
	s.Spec.SystemURI = "/redfish/v1/Systems/" + name
	if row != "" {
		s.Metadata.Labels = map[string]string{"row": row}
	}
	return s
}

// change gets a server and puts it back otherwise.
func (s *site) change(t testing.TB, name string, change func(*resource.Server)) {
	t.Helper()
	for {
		obj, err := store.Get[*resource.Server](s.Objects, name)
		if err != nil {
			t.Fatal(err)
		}
		change(obj)
		err = s.Objects.Put(context.Background(), obj)
		if err == nil {
			return
		}
		if protocol.CodeOf(err) != protocol.CodeConflict {
			t.Fatal(err)
		}
	}
}

func (s *site) remove(t testing.TB, name string) {
	t.Helper()
	if _, err := s.Delete(context.Background(), resource.KindServer, name); err != nil {
		t.Fatal(err)
	}
}
