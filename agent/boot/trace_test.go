package boot

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

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// nobody has no loops.
type nobody struct{}

func (nobody) Has(string) bool { return false }

func (nobody) Saw(string, decide.Event) {}

func (nobody) Fold(string, decide.Event) error { return nil }

func (nobody) KeepImage(string, string, protocol.ProbeReport, time.Time) error { return nil }

func (nobody) Wake(string) {}

func (nobody) LookAtAll() {}

// room is a room without servers of its own.
func room(t testing.TB, db state.Store, clock state.Clock) *Room {
	t.Helper()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{
		Index: NewIndex(), Store: st, Servers: nobody{}, NewID: func() string { return "key" }, Clock: clock, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		Reports: reports.New(reports.Config{Every: 15 * time.Second, Clock: clock, Registerer: prometheus.NewRegistry()}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tracing is a room that traces, on a clock of the test's.
func tracing(t testing.TB, db state.Store) (*Room, *wall) {
	t.Helper()
	w := &wall{start}
	r := room(t, db, w.read)
	r.cfg.Traces = trace.New(trace.Config{Agent: "a1", Store: r.cfg.Store.Traces, Servers: r.cfg.Reports, Clock: w.read, Logger: r.cfg.Logger, Registerer: prometheus.NewRegistry()})
	return r, w
}

// taken takes what waits, as the traces' goroutine does when it ends.
func taken(r *Room) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.cfg.Traces.Run(ctx)
}

// attempts makes a server with an open attempt that clients are mapped to.
func attempts(r *Room, id string) *decide.Attempt {
	at := &decide.Attempt{ID: id, Token: "secret-token", Stage: decide.Stage{State: resource.AttemptConsumed, Since: start}, Order: decide.Order{Target: protocol.TargetUefiHTTP}, At: start}
	r.index.synced = true
	r.index.byMAC = map[string][]string{"02:00:00:00:00:01": {"n1"}}
	r.index.follow("n1", decide.Record{Attempt: at})
	r.cfg.Traces.Server("n1").Stepped(decide.Snapshot{}, decide.Plan{Record: decide.Record{Attempt: at}})
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
	r, w := tracing(t, statetest.NewMemory())
	b := &segment{room: r, leased: newLeased()}
	at := attempts(r, "one")
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
	ended.Stage.State, ended.Stage.Since = resource.AttemptFailed, w.now
	r.index.follow("n1", decide.Record{Attempt: &ended})
	b.trace(discovered(w.now.Add(10*time.Minute - time.Second)))
	b.trace(discovered(w.now.Add(10 * time.Minute)))
	taken(r)
	tr, err := r.cfg.Traces.Trace("n1", 0)
	if err != nil || len(tr.Rows) != 4 || tr.Rows[0].Source != protocol.TraceDHCP || tr.Rows[1].Source != protocol.TraceHTTP || tr.Rows[2].Source != protocol.TraceTFTP || tr.Rows[3].Source != protocol.TraceDHCP {
		t.Errorf("%v, %+v", err, tr)
	}
	if _, err := r.cfg.Traces.Trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of a server that nobody knows: %v", err)
	}
	r.cfg.Reports.Put(resource.ServerReport{Server: "n2"}, resource.PhaseInitial)
	if _, err := r.cfg.Traces.Trace("n2", 0); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "not powered on") {
		t.Errorf("of a server without a power-on: %v", err)
	}
	if _, err := r.cfg.Traces.Trace("n1", 7); protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("of another power-on: %v", err)
	}
}

// BenchmarkTraceExchange is what a row costs the DHCP server that it is of: each is taken.
func BenchmarkTraceExchange(b *testing.B) {
	r, w := tracing(b, statetest.NewMemory())
	boots := &segment{room: r, leased: newLeased()}
	attempts(r, "one")
	e := discovered(w.now)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		boots.trace(e)
		if n%500 == 0 { // before the queue is full
			b.StopTimer()
			taken(r)
			b.StartTimer()
		}
	}
}

// BenchmarkTraceStranger is what a machine costs that is none of ours.
func BenchmarkTraceStranger(b *testing.B) {
	r, w := tracing(b, statetest.NewMemory())
	boots := &segment{room: r, leased: newLeased()}
	attempts(r, "one")
	e := discovered(w.now)
	e.Client.MAC = "02:00:00:00:00:99"
	b.ReportAllocs()
	for b.Loop() {
		boots.trace(e)
	}
}
