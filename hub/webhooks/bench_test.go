package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"rackboot/hub/events"
	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	oldSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// bench is a store with a log of events, which rooms come and go on.
type bench struct {
	*testing.T
	mem   *storetest.Memory
	store *store.Store
	log   *events.Log
	notes *strings.Builder // what rooms have logged
	count int
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, mem: storetest.NewMemory(), notes: &strings.Builder{}}
	b.reopen()
	return b
}

// reopen opens the store anew, as a hub does that starts.
func (b *bench) reopen() {
	b.Helper()
	var err error
	if b.store, err = store.Open(b.Context(), store.Config{KV: b.mem, Log: b.mem, Clock: time.Now, NewID: func() string { return "id" }}); err != nil {
		b.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	start, err := fence.Begin(b.Context(), b.store.Meta, time.Now, quiet, "hub")
	if err != nil {
		b.Fatal(err)
	}
	if b.log, err = events.Open(b.Context(), events.Config{Store: b.store, Start: start, Clock: time.Now, Logger: quiet}); err != nil {
		b.Fatal(err)
	}
}

// happen files so many events.
func (b *bench) happen(n int, code resource.EventCode, server string) {
	b.Helper()
	for range n {
		b.count++
		ev := api.EventRecord{Event: resource.Event{At: time.Now(), Server: server, Code: code, Message: fmt.Sprint(b.count)}, Agent: "a1"}
		if err := b.log.Add(b.Context(), events.Item{Event: ev, ID: fmt.Sprint(b.count)}); err != nil {
			b.Fatal(err)
		}
	}
}

// running is a room that runs.
type running struct {
	*Room
	end func() // waits
}

// run starts a room on the store. change may be nil.
func (b *bench) run(change func(*Config), hooks ...Hook) *running {
	b.Helper()
	log := slog.New(slog.NewTextHandler(&guarded{w: b.notes}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := Config{
		Hooks: hooks, Events: b.log, Meta: b.store.Meta, Objects: b.store.Objects, Source: "urn:rackboot:hub:h1", Stopped: func() bool { return false },
		Clock: time.Now, NewID: func() string { return "n1" }, Version: "test", Logger: log, Registerer: prometheus.NewRegistry(),
		Poll: 2 * time.Millisecond, SaveEvery: time.Millisecond, FirstPause: 2 * time.Millisecond,
	}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.Run(ctx); err != nil {
			b.Error(err)
		}
	}()
	end := sync.OnceFunc(func() { cancel(); <-ended })
	b.Cleanup(end)
	return &running{r, end}
}

type guarded struct {
	mu sync.Mutex
	w  io.Writer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

// got is one request that a receiver has had.
type got struct {
	ID   string
	Type string
	Data struct {
		Message string
		Index   uint64
		After   uint64
		UpTo    uint64
	}
	Subject, Source, SpecVersion string
	Time                         time.Time
	header                       http.Header
	status                       int
}

// receiver is a program that is told what happens.
type receiver struct {
	t   *testing.T
	url string
	mu  sync.Mutex
	all []got
	// answer says what the n-th request, from 1, is answered; 0 cuts the connection.
	answer func(n int, g got) int
}

func newReceiver(t *testing.T, answer func(n int, g got) int) *receiver {
	rc := &receiver{t: t, answer: answer}
	hook, err := standardwebhooks.NewWebhook(newSecret)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if err := hook.Verify(body, r.Header); err != nil {
			t.Errorf("signature: %v", err)
		}
		g := got{header: r.Header}
		if err := json.Unmarshal(body, &g); err != nil || g.ID != r.Header.Get("webhook-id") {
			t.Errorf("%s: %v", body, err)
		}
		rc.mu.Lock()
		n := len(rc.all) + 1
		rc.mu.Unlock()
		status := http.StatusNoContent
		if rc.answer != nil {
			status = rc.answer(n, g)
		}
		g.status = status
		rc.mu.Lock()
		rc.all = append(rc.all, g)
		rc.mu.Unlock()
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	rc.url = s.URL + "/in?token=canary-url"
	return rc
}

func (rc *receiver) requests() []got {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.all)
}

// takenMessages are the messages of the events that it has taken, in order, without doubles, which must
// come with the id that they had.
func (rc *receiver) takenMessages() (out []string) {
	ids := map[string]string{}
	for _, g := range rc.requests() {
		if !strings.HasPrefix(g.Type, typePrefix) || g.status/100 != 2 {
			continue
		}
		if id, twice := ids[g.Data.Message]; twice {
			if id != g.ID {
				rc.t.Errorf("event %s came as %s and as %s", g.Data.Message, id, g.ID)
			}
			continue
		}
		ids[g.Data.Message] = g.ID
		out = append(out, g.Data.Message)
	}
	return out
}

func (rc *receiver) hook(t *testing.T, name string) Hook {
	t.Helper()
	secrets, err := ParseSecrets(oldSecret + "\n" + newSecret + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return Hook{Name: name, URL: rc.url, Secrets: secrets, Wait: 5 * time.Second, GiveUp: time.Hour}
}

// numbers are those from one to another as text.
func numbers(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

// until waits for something to be so.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(8 * time.Second)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *bench) untilTaken(rc *receiver, want []string) {
	b.Helper()
	until(b, fmt.Sprintf("%d events", len(want)), func() bool { return len(rc.takenMessages()) >= len(want) })
	if got := rc.takenMessages(); !slices.Equal(got, want) {
		b.Fatalf("taken %q, not %q", got, want)
	}
}
