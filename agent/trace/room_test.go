package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// heard are the servers that an agent has heard of.
type heard map[string]bool

func (h heard) Known(server string) bool { return h[server] }

func tracing(t testing.TB, db state.Store) *Room {
	t.Helper()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		Agent: "a1", Store: st.Traces, Servers: heard{"n1": true}, Clock: func() time.Time { return start }, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
}

// attempts begins an attempt of a server.
func attempts(r *Room, id string) *decide.Attempt {
	at := &decide.Attempt{ID: id, Token: "secret-token", Stage: decide.Stage{State: resource.AttemptConsumed, Since: start}, Order: decide.Order{Target: protocol.TargetUefiHTTP}, At: start}
	r.add(sighting{server: "n1", attempt: id, head: headOf("n1", at)})
	return at
}

func discovered(at time.Time) netboot.Exchange {
	return netboot.Exchange{
		Source: protocol.TraceDHCP, At: at, Asked: "discover", Answered: "offer",
		Client:   protocol.BootClient{Segment: "boot", MAC: "02:00:00:00:00:01", Class: protocol.ClassHTTPClient, Archs: []uint16{16}, Address: netip.MustParseAddr("10.7.0.50")},
		Decision: protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "n1", Reason: "first boot granted", Token: "secret-token", File: "boot.efi"},
	}
}

// What rows say of exchanges, and what they do not: no token is in any of them.
func TestTraceWords(t *testing.T) {
	v6, refused := discovered(start), discovered(start)
	v6.V6, v6.Asked = true, "solicit"
	refused.Decision = protocol.BootAnswer{Action: protocol.AnswerRefuse, Reason: "held"}
	for _, tt := range []struct {
		in   netboot.Exchange
		want string
	}{
		{discovered(start), "dhcp DISCOVER: HTTPClient amd64 uefi HTTP, 10.7.0.50 -> offer, boot: first boot granted, file boot.efi"},
		{v6, "dhcp SOLICIT (IPv6): HTTPClient amd64 uefi HTTP, 10.7.0.50 -> offer, boot: first boot granted, file boot.efi"},
		{refused, "dhcp DISCOVER: HTTPClient amd64 uefi HTTP, 10.7.0.50 -> offer, refuse: held"},
		{netboot.Exchange{Source: protocol.TraceTFTP, Asked: "timeout", Token: "secret-token", File: "boot.efi", Bytes: 4096, Took: 31 * time.Second}, "tftp timeout: boot.efi, 4096 bytes in 31s"},
		{netboot.Exchange{Source: protocol.TraceHTTP, Asked: "GET", Status: 206, Token: "secret-token", File: "kernel", Range: "bytes=4096-", Bytes: 10, Took: 1500 * time.Microsecond}, "http GET 206: kernel, bytes=4096-, 10 bytes in 1.5ms"},
		{netboot.Exchange{Source: protocol.TraceHTTP, Asked: "POST", Status: 204, Report: true}, "http POST 204: report, 0 bytes in 0s"},
	} {
		r := exchanged(tt.in)
		got := fmt.Sprintf("%s %s: %s", r.Source, r.What, r.Detail)
		if got != tt.want || strings.Contains(got, "secret-token") {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// Whoever records does not wait: of too much the rest is counted, and what comes after it
// is traced again.
func TestTraceDropsAndCounts(t *testing.T) {
	r := tracing(t, statetest.NewMemory())
	at := attempts(r, "one")
	for range 3 * sightingsWaiting {
		r.Exchanged("n1", at, discovered(start))
	}
	if dropped := testutil.ToFloat64(r.dropped); dropped != 2*sightingsWaiting+1 {
		t.Errorf("%v were counted", dropped)
	}
	r.drain()
	r.Exchanged("n1", at, discovered(start))
	r.drain()
	if tr, err := r.Trace("n1", 0); err != nil || tr.Last() != sightingsWaiting || len(tr.Rows) != resource.MaxTraceRows {
		t.Errorf("%v, %d rows to %d", err, len(tr.Rows), tr.Last())
	}
}

// broken is a store whose disk is full while it is set.
type broken struct {
	state.Store
	full atomic.Bool
}

func (b *broken) Update(f func(state.Txn) error) error {
	if b.full.Load() {
		return errors.New("no space left on device")
	}
	return b.Store.Update(f)
}

// The last attempts are kept, also over a restart; a full disk loses nothing that is in
// memory, and stops nothing.
func TestTraceOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &broken{Store: statetest.NewMemory()}
		run := func(r *Room) func() {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { r.Run(ctx); close(done) }()
			return func() { cancel(); <-done }
		}
		begin := func(r *Room, n int) {
			at := attempts(r, fmt.Sprintf("id-%d", n))
			r.add(sighting{server: "n1", attempt: at.ID, row: resource.TraceRow{Source: protocol.TraceAttempt, What: at.ID}})
			synctest.Wait()
		}
		kept := func(r *Room, want ...int) {
			t.Helper()
			for _, n := range want {
				tr, err := r.Trace("n1", n)
				if err != nil || tr.Attempt != fmt.Sprintf("id-%d", n) || len(tr.Rows) != 1 || tr.Rows[0].What != tr.Attempt || !slices.Equal(tr.Kept, want) {
					t.Fatalf("%d of %v: %v, %+v", n, want, err, tr)
				}
			}
		}
		r := tracing(t, db)
		stop := run(r)
		begin(r, 1)
		begin(r, 2)
		kept(r, 1, 2)
		stop()

		r = tracing(t, db)
		kept(r, 1, 2)
		stop = run(r)
		db.full.Store(true)
		for n := 3; n <= 4; n++ {
			begin(r, n)
			time.Sleep(2 * traceFlush)
		}
		kept(r, 1, 2, 3, 4)
		db.full.Store(false)
		time.Sleep(2 * traceFlush)
		synctest.Wait()
		if all, err := r.cfg.Store.Of("n1"); err != nil || len(all) != 4 {
			t.Errorf("%v, %d on the disk", err, len(all))
		}
		for n := 5; n <= 9; n++ {
			begin(r, n)
		}
		kept(r, 4, 5, 6, 7, 8, 9)
		stop()
		r = tracing(t, db)
		kept(r, 4, 5, 6, 7, 8, 9)
		if all, err := r.cfg.Store.Of("n1"); err != nil || len(all) != tracesKept {
			t.Errorf("%v, %d on the disk", err, len(all))
		}
	})
}

// BenchmarkTraceWords is what a row costs the traces' goroutine, beside everything else.
func BenchmarkTraceWords(b *testing.B) {
	r := tracing(b, statetest.NewMemory())
	attempts(r, "one")
	r.drain()
	s := sighting{server: "n1", attempt: "one", seen: discovered(start)}
	b.ReportAllocs()
	for b.Loop() {
		r.take(s)
	}
}
