package agent

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

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// tracing is an agent as far as traces need it, on a clock of the test's.
func tracing(t testing.TB, db state.Store) (*Agent, *wall) {
	t.Helper()
	w := &wall{hubStart}
	a := &Agent{cfg: Config{Agent: "a1", Clock: w.read, ReportEvery: 15 * time.Second}, log: slog.New(slog.DiscardHandler), index: newIndex()}
	a.loops = newLoops(a)
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	a.store = st
	a.hubClock.clock = w.read
	a.streams, a.notices, a.asks = newStreams(a), newNotices(a), newAsks(a)
	a.report = newReporter(a)
	a.met = newMetrics(prometheus.NewRegistry(), a)
	a.traces = newTraces(a)
	return a, w
}

// taken takes what waits, as the traces' goroutine does.
func taken(a *Agent) { a.traces.drain() }

// attempts makes a server with an open attempt that clients are mapped to.
func attempts(a *Agent, id string) *decide.Attempt {
	at := &decide.Attempt{ID: id, Token: "secret-token", State: resource.AttemptConsumed, Intended: protocol.TargetUefiHTTP, At: hubStart, Since: hubStart}
	a.index.synced = true
	a.index.byMAC = map[string][]string{"02:00:00:00:00:01": {"n1"}}
	a.index.follow("n1", decide.Record{Attempt: at})
	a.traces.add(sighting{server: "n1", attempt: id, head: headOf("n1", at)})
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
	v6, refused := discovered(hubStart), discovered(hubStart)
	v6.V6, v6.Asked = true, "solicit"
	refused.Decision = protocol.BootAnswer{Action: protocol.AnswerRefuse, Reason: "held"}
	for _, tt := range []struct {
		in   netboot.Exchange
		want string
	}{
		{discovered(hubStart), "dhcp DISCOVER: HTTPClient amd64 uefi HTTP, 10.7.0.50 -> offer, boot: first boot granted, file boot.efi"},
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

// What is seen goes to the attempt that it is of; of strangers, and long after its end,
// nothing is kept.
func TestTraceOfWhom(t *testing.T) {
	a, w := tracing(t, statetest.NewMemory())
	b := &boots{agent: a, leased: newLeased()}
	at := attempts(a, "one")
	b.leased.note(tenant4(netboot.Lease{Address: netip.MustParseAddr("10.7.0.50"), MAC: "02:00:00:00:00:01", Expires: w.now.Add(time.Hour)}))
	stranger := discovered(w.now)
	stranger.Client.MAC = "02:00:00:00:00:99"
	b.trace(stranger)
	b.trace(netboot.Exchange{Source: protocol.TraceHTTP, At: w.now, Asked: "GET", Token: "another", File: "x"})
	b.trace(netboot.Exchange{Source: protocol.TraceTFTP, At: w.now, Asked: "done", Remote: netip.MustParseAddr("10.7.0.51"), File: "x"})
	b.trace(discovered(w.now))
	b.trace(netboot.Exchange{Source: protocol.TraceHTTP, At: w.now, Asked: "GET", Token: "secret-token", File: "boot.efi"})
	b.trace(netboot.Exchange{Source: protocol.TraceTFTP, At: w.now, Asked: "done", Remote: netip.MustParseAddr("10.7.0.50"), File: "grub.cfg"})
	ended := *at
	ended.State, ended.Since = resource.AttemptFailed, w.now
	a.index.follow("n1", decide.Record{Attempt: &ended})
	b.trace(discovered(w.now.Add(traceAfter - time.Second)))
	b.trace(discovered(w.now.Add(traceAfter)))
	taken(a)
	tr, err := a.traces.trace("n1", 0)
	if err != nil || len(tr.Rows) != 4 || tr.Rows[0].Source != protocol.TraceDHCP || tr.Rows[1].Source != protocol.TraceHTTP || tr.Rows[2].Source != protocol.TraceTFTP || tr.Rows[3].Source != protocol.TraceDHCP {
		t.Errorf("%v, %+v", err, tr)
	}
	if _, err := a.traces.trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of a server that nobody knows: %v", err)
	}
	a.report.put(resource.ServerReport{Server: "n2"}, resource.PhaseInitial)
	if _, err := a.traces.trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "not powered on") {
		t.Errorf("of a server without a power-on: %v", err)
	}
	if _, err := a.traces.trace("n1", 7); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("of another power-on: %v", err)
	}
}

// Whoever records does not wait: of too much the rest is counted, and what comes after it
// is traced again.
func TestTraceDropsAndCounts(t *testing.T) {
	a, w := tracing(t, statetest.NewMemory())
	b := &boots{agent: a, leased: newLeased()}
	attempts(a, "one")
	for range 3 * sightingsWaiting {
		b.trace(discovered(w.now))
	}
	var dropped float64
	reg := prometheus.NewRegistry()
	reg.MustRegister(a.met.traceDropped)
	dropped = gathered(t, reg, "rackboot_agent_trace_rows_dropped_total")[0].value
	if dropped != 2*sightingsWaiting+1 {
		t.Errorf("%v were counted", dropped)
	}
	taken(a)
	b.trace(discovered(w.now))
	taken(a)
	if tr, err := a.traces.trace("n1", 0); err != nil || tr.Last() != sightingsWaiting || len(tr.Rows) != resource.MaxTraceRows {
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
		run := func(a *Agent) func() {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { a.traces.run(ctx); close(done) }()
			return func() { cancel(); <-done }
		}
		begin := func(a *Agent, n int) {
			at := attempts(a, fmt.Sprintf("id-%d", n))
			a.traces.add(sighting{server: "n1", attempt: at.ID, row: resource.TraceRow{Source: protocol.TraceAttempt, What: at.ID}})
			synctest.Wait()
		}
		kept := func(a *Agent, want ...int) {
			t.Helper()
			for _, n := range want {
				tr, err := a.traces.trace("n1", n)
				if err != nil || tr.Attempt != fmt.Sprintf("id-%d", n) || len(tr.Rows) != 1 || tr.Rows[0].What != tr.Attempt || !slices.Equal(tr.Kept, want) {
					t.Fatalf("%d of %v: %v, %+v", n, want, err, tr)
				}
			}
		}
		a, _ := tracing(t, db)
		stop := run(a)
		begin(a, 1)
		begin(a, 2)
		kept(a, 1, 2)
		stop()

		a, _ = tracing(t, db)
		kept(a, 1, 2)
		stop = run(a)
		db.full.Store(true)
		for n := 3; n <= 4; n++ {
			begin(a, n)
			time.Sleep(2 * traceFlush)
		}
		kept(a, 1, 2, 3, 4)
		db.full.Store(false)
		time.Sleep(2 * traceFlush)
		synctest.Wait()
		if all, err := a.store.Traces("n1"); err != nil || len(all) != 4 {
			t.Errorf("%v, %d on the disk", err, len(all))
		}
		for n := 5; n <= 9; n++ {
			begin(a, n)
		}
		kept(a, 4, 5, 6, 7, 8, 9)
		stop()
		a, _ = tracing(t, db)
		kept(a, 4, 5, 6, 7, 8, 9)
		if all, err := a.store.Traces("n1"); err != nil || len(all) != tracesKept {
			t.Errorf("%v, %d on the disk", err, len(all))
		}
	})
}

// BenchmarkTraceExchange is what a row costs the DHCP server that it is of: each is taken.
func BenchmarkTraceExchange(b *testing.B) {
	a, w := tracing(b, statetest.NewMemory())
	boots := &boots{agent: a, leased: newLeased()}
	attempts(a, "one")
	e := discovered(w.now)
	b.ReportAllocs()
	for b.Loop() {
		boots.trace(e)
		if len(a.traces.queue) == cap(a.traces.queue) {
			b.StopTimer()
			for len(a.traces.queue) > 0 {
				<-a.traces.queue
			}
			b.StartTimer()
		}
	}
}

// BenchmarkTraceWords is what a row costs the traces' goroutine, beside everything else.
func BenchmarkTraceWords(b *testing.B) {
	a, w := tracing(b, statetest.NewMemory())
	attempts(a, "one")
	taken(a)
	s := sighting{server: "n1", attempt: "one", seen: discovered(w.now)}
	b.ReportAllocs()
	for b.Loop() {
		a.traces.take(s)
	}
}

// BenchmarkTraceStranger is what a machine costs that is none of ours.
func BenchmarkTraceStranger(b *testing.B) {
	a, w := tracing(b, statetest.NewMemory())
	boots := &boots{agent: a, leased: newLeased()}
	attempts(a, "one")
	e := discovered(w.now)
	e.Client.MAC = "02:00:00:00:00:99"
	b.ReportAllocs()
	for b.Loop() {
		boots.trace(e)
	}
}
