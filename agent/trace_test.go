package agent

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// wall is a clock without a monotonic hand.
type wall struct{ now time.Time }

func (w *wall) read() time.Time { return w.now }

var hubStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

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
	a.streams, a.notices, a.asks = newStreams(a), newNotices(a), newAsks(a)
	a.reports = reports.New(reports.Config{Every: 15 * time.Second, Clock: w.read, Registerer: prometheus.NewRegistry()})
	a.met = newMetrics(prometheus.NewRegistry(), a)
	a.traces = trace.New(trace.Config{Agent: "a1", Store: st, Servers: a.reports, Clock: w.read, Logger: a.log, Registerer: prometheus.NewRegistry()})
	return a, w
}

// taken takes what waits, as the traces' goroutine does when it ends.
func taken(a *Agent) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a.traces.Run(ctx)
}

// attempts makes a server with an open attempt that clients are mapped to.
func attempts(a *Agent, id string) *decide.Attempt {
	at := &decide.Attempt{ID: id, Token: "secret-token", State: resource.AttemptConsumed, Intended: protocol.TargetUefiHTTP, At: hubStart, Since: hubStart}
	a.index.synced = true
	a.index.byMAC = map[string][]string{"02:00:00:00:00:01": {"n1"}}
	a.index.follow("n1", decide.Record{Attempt: at})
	a.traces.Server("n1").Stepped(decide.Snapshot{}, decide.Plan{Record: decide.Record{Attempt: at}})
	return at
}

func discovered(at time.Time) netboot.Exchange {
	return netboot.Exchange{
		Source: protocol.TraceDHCP, At: at, Asked: "discover", Answered: "offer",
		Client:   protocol.BootClient{Segment: "boot", MAC: "02:00:00:00:00:01", Class: protocol.ClassHTTPClient, Archs: []uint16{16}, Address: netip.MustParseAddr("10.7.0.50")},
		Decision: protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "n1", Reason: "first boot granted", Token: "secret-token", File: "boot.efi"},
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
	b.trace(discovered(w.now.Add(10*time.Minute - time.Second)))
	b.trace(discovered(w.now.Add(10 * time.Minute)))
	taken(a)
	tr, err := a.traces.Trace("n1", 0)
	if err != nil || len(tr.Rows) != 4 || tr.Rows[0].Source != protocol.TraceDHCP || tr.Rows[1].Source != protocol.TraceHTTP || tr.Rows[2].Source != protocol.TraceTFTP || tr.Rows[3].Source != protocol.TraceDHCP {
		t.Errorf("%v, %+v", err, tr)
	}
	if _, err := a.traces.Trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of a server that nobody knows: %v", err)
	}
	a.reports.Put(resource.ServerReport{Server: "n2"}, resource.PhaseInitial)
	if _, err := a.traces.Trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "not powered on") {
		t.Errorf("of a server without a power-on: %v", err)
	}
	if _, err := a.traces.Trace("n1", 7); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("of another power-on: %v", err)
	}
}

// BenchmarkTraceExchange is what a row costs the DHCP server that it is of: each is taken.
func BenchmarkTraceExchange(b *testing.B) {
	a, w := tracing(b, statetest.NewMemory())
	boots := &boots{agent: a, leased: newLeased()}
	attempts(a, "one")
	e := discovered(w.now)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		boots.trace(e)
		if n%500 == 0 { // before the queue is full
			b.StopTimer()
			taken(a)
			b.StartTimer()
		}
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
