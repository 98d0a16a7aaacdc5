package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// hub is what outlives a Room: what was done, who is a client, and the store.
type hub struct {
	mu      sync.Mutex
	kv      *dying
	store   *store.Store
	clients map[string]access.Caller
	done    map[string]int // effects by path
	refused map[string]error
	at, top int  // at once
	narrow  bool // callers with a scope are refused
	did     func(n int)
	run     string // what the ids of its requests begin with, where there is another hub
}

// dying is a store whose process ends at a write: that one and all later ones fail.
type dying struct {
	*storetest.Memory
	mu   sync.Mutex
	left int // writes; below 0 is no end
	died func()
}

var errDead = errors.New("killed")

// write counts a write, and fails if its process has ended.
func (d *dying) write() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		d.died()
		return errDead
	}
	d.left--
	return nil
}

func (d *dying) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	if err := d.write(); err != nil {
		return nil, err
	}
	return d.Memory.Commit(ctx, ops)
}

func (d *dying) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	if err := d.write(); err != nil {
		return 0, err
	}
	return d.Memory.Create(ctx, key, value)
}

func (d *dying) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := d.write(); err != nil {
		return 0, err
	}
	return d.Memory.Update(ctx, key, value, revision)
}

func (d *dying) Delete(ctx context.Context, key string, revision uint64) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Memory.Delete(ctx, key, revision)
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{kv: &dying{Memory: storetest.NewMemory(), left: -1}, clients: map[string]access.Caller{"ops": {Name: "ops"}}, done: map[string]int{}, refused: map[string]error{}}
	h.open(t)
	return h
}

func (h *hub) open(t *testing.T) {
	t.Helper()
	var err error
	h.store, err = store.Open(t.Context(), store.Config{KV: h.kv, Log: h.kv.Memory, Clock: time.Now, NewID: func() string { return "01x" }})
	if err != nil {
		t.Fatal(err)
	}
}

func (h *hub) room() *Room { return h.roomOf(Config{}) }

func (h *hub) roomOf(c Config) *Room {
	c.Bulks, c.Requests, c.Asker, c.Clock = h.store.Requests.Bulks, h.store.Requests, h, time.Now
	c.Registerer, c.Logger = prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	return New(c)
}

func (h *hub) Client(name string) (access.Caller, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.clients[name]
	return c, ok
}

// Inside is a hub whose holds and requests are its own: the same hold is the same, each request is another.
func (h *hub) Inside(ctx context.Context, who access.Caller, _, path string, body []byte) error {
	h.mu.Lock()
	h.at++
	h.top = max(h.top, h.at)
	h.mu.Unlock()
	time.Sleep(time.Millisecond) // of a bubble
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at--
	if h.narrow && !who.Scope.Everywhere() {
		return api.ProblemOf(protocol.Errorf(protocol.CodeDenied, "reboot", "not in the scope"))
	}
	if err := h.refused[path]; err != nil {
		return api.ProblemOf(err)
	}
	if strings.HasSuffix(path, "/requests") {
		var req api.RebootRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return err
		}
		server := strings.Split(path, "/")[3]
		n := h.done[path] + 1
		if err := h.store.Requests.Put(context.WithoutCancel(ctx), store.StoredRequest{
			Request: resource.Request{ID: fmt.Sprintf("%s%s-%d", h.run, server, n), Server: server, Action: req.Action, By: who.Name, Ref: req.Ref, NotAfter: time.Now()}, Rack: "r",
			Report: resource.RequestReport{Outcome: resource.OutcomeDone},
		}); err != nil {
			return api.ProblemOf(err)
		}
		h.done[path] = n
	} else {
		h.done[path] = 1
	}
	if h.did != nil {
		h.did(len(h.done))
	}
	return nil
}

func servers(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	return names
}

func reboot(id string) store.StoredBulk {
	return store.StoredBulk{ID: id, Action: "reboot", Body: []byte(`{"action":"reboot","ref":"` + Ref(id) + `"}`), Parallel: 10}
}

// run has a room work until the operation ends, and returns it.
func run(t *testing.T, h *hub, r *Room, id string) api.BulkStatus {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = r.Run(ctx) }()
	for {
		time.Sleep(10 * time.Millisecond)
		s, err := r.Get(access.Caller{Name: "ops"}, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.EndedAt != nil {
			cancel()
			<-over
			return s
		}
	}
}

func accept(t *testing.T, r *Room, b store.StoredBulk, names []string) {
	t.Helper()
	if _, err := r.Accept(t.Context(), access.Caller{Name: "ops"}, b, names); err != nil {
		t.Fatal(err)
	}
}

// A hub that is killed at any write leaves nothing undone and does nothing twice.
func TestEachIsDoneOnceWhereverTheHubIsKilled(t *testing.T) {
	for at := 0; ; at++ {
		over := false
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t)
			accept(t, h.room(), reboot("01a"), servers(25))
			ctx, kill := context.WithCancel(t.Context())
			h.kv.mu.Lock()
			h.kv.left, h.kv.died = at, kill
			h.kv.mu.Unlock()
			ended := make(chan struct{})
			go func() { defer close(ended); _ = h.room().Run(ctx) }()
			time.Sleep(time.Minute)
			kill()
			<-ended
			h.kv.mu.Lock()
			over = h.kv.left > 0
			h.kv.left = -1
			h.kv.mu.Unlock()
			h.open(t)
			if s := run(t, h, h.room(), "01a"); s.State != api.BulkDone || s.Done != 25 {
				t.Fatalf("killed at write %d: %+v", at, s)
			}
			for path, n := range h.done {
				if n != 1 {
					t.Errorf("killed at write %d: %s was done %d times", at, path, n)
				}
			}
			if len(h.done) != 25 {
				t.Errorf("killed at write %d: %d were done", at, len(h.done))
			}
		})
		if over || t.Failed() {
			if at < 25 {
				t.Errorf("there were only %d writes", at)
			}
			return
		}
	}
}

func TestAThousandTenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.room()
		accept(t, r, reboot("01a"), servers(1000))
		if s := run(t, h, r, "01a"); s.State != api.BulkDone || s.Done != 1000 || len(s.Results) != 1000 || h.top != 10 {
			t.Errorf("%s %d of %d, %d at once", s.State, s.Done, s.Total, h.top)
		}
	})
}

func TestAFailureHasItsWordsAndComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.refused["/v1/servers/n2/requests"] = protocol.Errorf(protocol.CodeConflict, "reboot", "no claim").WithHint("apply one")
		r := h.room()
		accept(t, r, reboot("01a"), servers(3))
		s := run(t, h, r, "01a")
		if first := s.Results[0]; s.Done != 2 || s.Failed != 1 || first != (api.BulkResult{Name: "n2", Outcome: api.BulkItemFailed, Code: protocol.CodeConflict, Message: "no claim", Hint: "apply one"}) {
			t.Errorf("%+v", s)
		}
	})
}

// What the hub cannot do now it tries again; what lasts is a failure.
func TestWhatCannotBeDoneNowIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.refused["/v1/servers/n0/requests"] = protocol.Errorf(protocol.CodeUnavailable, "reboot", "the disk is full")
		h.refused["/v1/servers/n1/requests"] = protocol.Errorf(protocol.CodeUnavailable, "reboot", "the disk is full")
		go func() {
			time.Sleep(5 * time.Second)
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.refused, "/v1/servers/n0/requests")
		}()
		r := h.room()
		accept(t, r, reboot("01a"), servers(3))
		if s := run(t, h, r, "01a"); s.Done != 2 || s.Results[0].Name != "n1" || s.Results[0].Code != protocol.CodeUnavailable {
			t.Errorf("%+v", s)
		}
	})
}

func TestStopAfterAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		for _, n := range servers(100) {
			h.refused["/v1/servers/"+n+"/requests"] = protocol.Errorf(protocol.CodeConflict, "reboot", "no")
		}
		r := h.room()
		b := reboot("01a")
		b.StopAfter = 15
		accept(t, r, b, servers(100))
		if s := run(t, h, r, "01a"); s.State != api.BulkStopped || s.Failed != 20 || s.Waiting != 80 || s.Results[99].Outcome != api.BulkItemNotTried {
			t.Errorf("%+v", s)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.room()
		h.did = func(n int) {
			if n == 15 {
				go func() {
					if _, err := r.Cancel(t.Context(), "01a", "boss"); err != nil {
						t.Error(err)
					}
				}()
			}
		}
		accept(t, r, reboot("01a"), servers(100))
		s := run(t, h, r, "01a")
		if s.State != api.BulkCancelled || s.CancelledBy != "boss" || s.Done < 15 || s.Done > 30 || s.Done != len(h.done) {
			t.Errorf("%+v", s)
		}
		if again, err := r.Cancel(t.Context(), "01a", "other"); err != nil || again.CancelledBy != "boss" {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func TestACallerWhoIsGoneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.did = func(n int) {
			if n == 10 {
				delete(h.clients, "ops") // under its lock
			}
		}
		r := h.room()
		accept(t, r, reboot("01a"), servers(30))
		if s := run(t, h, r, "01a"); s.Done != 10 || s.Failed != 20 || s.Results[0].Code != protocol.CodeDenied {
			t.Errorf("%+v", s)
		}
	})
}

// The hub's file as it is now says what a client may.
func TestACallerWhoMayLessIsJudgedByThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.did = func(n int) {
			if n == 10 {
				h.clients["ops"] = access.Caller{Name: "ops", Scope: access.Scope{MatchLabels: access.Labels{"row": "7"}}} // under its lock
			}
		}
		h.narrow = true
		r := h.room()
		accept(t, r, reboot("01a"), servers(30))
		if s := run(t, h, r, "01a"); s.Done != 10 || s.Failed != 20 || s.Results[0].Message != "not in the scope" {
			t.Errorf("%+v", s)
		}
	})
}

func TestACallerIsKnownForADay(t *testing.T) {
	h := newHub(t)
	r := h.room()
	person, _ := json.Marshal(access.Caller{Name: "jo", Issuer: "https://id", Subject: "7", Roles: []access.Role{access.Operator}})
	client, _ := json.Marshal(access.Caller{Name: "ops", Roles: []access.Role{access.Operator}})
	for age, ok := range map[time.Duration]bool{0: true, 23 * time.Hour: true, 25 * time.Hour: false} {
		for _, of := range [][]byte{person, client} {
			who, err := r.caller(store.StoredBulk{Caller: of, CreatedAt: time.Now().Add(-age)})
			if (err == nil) != ok || ok && (who.Issuer != "") != (len(who.Roles) == 1) || !ok && protocol.CodeOf(err) != protocol.CodeDenied {
				t.Errorf("after %s: %+v, %v", age, who, err)
			}
		}
	}
}

// A part that was written meanwhile is read again.
func TestAPartThatAnotherHasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.did = func(n int) {
			if n == 15 {
				p := h.store.Requests.Bulks.Part("01a", 0)
				if err := h.store.Requests.Bulks.PutPart(t.Context(), "01a", 0, &p); err != nil {
					t.Error(err)
				}
			}
		}
		r := h.room()
		accept(t, r, reboot("01a"), servers(30))
		if s := run(t, h, r, "01a"); s.State != api.BulkDone || s.Done != 30 {
			t.Errorf("%+v", s)
		}
		for path, n := range h.done {
			if n != 1 {
				t.Errorf("%s was done %d times", path, n)
			}
		}
	})
}

// A hub that was stopped in the middle of a round, and does not know yet that another one has taken over, makes no request
// that the other one makes too.
func TestAHubThatIsDeposedMakesNoRequest(t *testing.T) {
	const unit = "site"
	synctest.Test(t, func(t *testing.T) {
		first := newHub(t)
		own := store.Unit{Name: unit, Owner: message.Fence{Number: 1, Hub: "run-a"}}
		if err := first.store.Units.Put(t.Context(), &own); err != nil {
			t.Fatal(err)
		}
		under := func(run string) func(context.Context) context.Context {
			return func(ctx context.Context) context.Context { return store.Under(ctx, unit, run) }
		}
		var second *hub
		var working sync.WaitGroup
		var taken time.Time
		first.did = func(n int) {
			if n != 7 {
				return
			}
			second = &hub{run: "b", kv: first.kv, clients: first.clients, done: map[string]int{}, refused: map[string]error{}}
			second.open(t)
			u, err := second.store.Units.Newest(t.Context(), unit)
			if err != nil {
				t.Error(err)
			}
			u.Owner = message.Fence{Number: 2, Hub: "run-b"}
			if err := second.store.Units.Put(t.Context(), &u); err != nil {
				t.Error(err)
			}
			taken = time.Now()
			working.Go(func() {
				r := second.roomOf(Config{Under: under("run-b")})
				if s := run(t, second, r, "01a"); s.State != api.BulkDone || s.Done != 30 {
					t.Errorf("%+v", s)
				}
			})
		}
		ctx, stop := context.WithCancel(t.Context())
		r := first.roomOf(Config{Under: under("run-a"), Idle: func() bool {
			first.mu.Lock()
			defer first.mu.Unlock()
			return !taken.IsZero() && time.Since(taken) > 3*time.Second
		}})
		accept(t, r, reboot("01a"), servers(30))
		var all sync.WaitGroup
		all.Go(func() { _ = r.Run(ctx) })
		time.Sleep(time.Minute) // of a bubble
		stop()
		all.Wait()
		working.Wait()
		if second == nil {
			t.Fatal("nobody took over")
		}
		second.open(t)
		made := map[string]int{}
		for _, q := range second.store.Requests.List() {
			made[q.Server]++
		}
		for server, n := range made {
			if n != 1 {
				t.Errorf("%s has %d requests", server, n)
			}
		}
		if n := first.made() + second.made(); len(made) != 30 || n != 30 {
			t.Errorf("%d servers have a request, and %d were made", len(made), n)
		}
	})
}

func (h *hub) made() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, times := range h.done {
		n += times
	}
	return n
}

func TestTwoOperationsOnTheSameServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.room()
		accept(t, r, reboot("01a"), servers(40))
		accept(t, r, reboot("01b"), servers(40))
		run(t, h, r, "01a")
		if s := run(t, h, h.room(), "01b"); s.Done != 40 {
			t.Errorf("%+v", s)
		}
		for path, n := range h.done {
			if n != 2 {
				t.Errorf("%s was done %d times", path, n)
			}
		}
	})
}

func TestBoundsAndForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.room()
		for i := range api.MaxBulkOpen {
			accept(t, r, reboot(fmt.Sprintf("01a%02d", i)), servers(1))
		}
		if _, err := r.Accept(t.Context(), access.Caller{Name: "ops"}, reboot("01b"), servers(1)); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("one more: %v", err)
		}
		for i := range api.MaxBulkOpen {
			run(t, h, h.room(), fmt.Sprintf("01a%02d", i))
		}
		if got := len(r.List(access.Caller{Name: "ops"})); got != api.MaxBulkOpen {
			t.Errorf("%d are kept", got)
		}
		if got := len(r.List(access.Caller{Name: "other"})); got != 0 {
			t.Errorf("a stranger sees %d", got)
		}
		if got := len(r.List(access.Caller{Name: "boss", Roles: []access.Role{access.Admin}})); got != api.MaxBulkOpen {
			t.Errorf("an admin sees %d", got)
		}
		time.Sleep(Kept + time.Minute)
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(h.store.Requests.Bulks.List()); got != 0 {
			t.Errorf("%d are left", got)
		}
		if p := h.store.Requests.Bulks.Part("01a00", 0); len(p.Items) != 0 {
			t.Errorf("a part is left: %+v", p)
		}
	})
}

// A ref of the caller's own tells what is there as the operation's does, but not what is of before it.
func TestARefOfTheCallersOwn(t *testing.T) {
	h := newHub(t)
	r := h.room()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(id, server, by, ref string, action resource.RequestAction, created time.Time) {
		t.Helper()
		if err := h.store.Requests.Put(t.Context(), store.StoredRequest{
			Request: resource.Request{ID: id, Server: server, Action: action, By: by, Ref: ref, NotAfter: at}, Rack: "r", CreatedAt: created,
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("1", "n1", "ops", "mine", resource.RequestReboot, at)
	put("2", "n2", "ops", "mine", resource.RequestReboot, at.Add(-time.Second)) // of before
	put("3", "n3", "you", "mine", resource.RequestReboot, at)
	put("4", "n4", "ops", "else", resource.RequestReboot, at)
	put("5", "n5", "ops", "mine", resource.RequestPowerOff, at)
	b := store.StoredBulk{ID: "01a", Action: "reboot", By: "ops", CreatedAt: at, Body: []byte(`{"action":"reboot","ref":"mine"}`)}
	if got := r.asked(b); len(got) != 1 || !got["n1"] {
		t.Errorf("%v", got)
	}
	b.Action, b.Body = "hold", []byte(`{"key":"k","ref":"mine"}`)
	if got := r.asked(b); len(got) != 0 {
		t.Errorf("of holds: %v", got)
	}
}
