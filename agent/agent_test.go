package agent

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/guard"
	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/state"
)

// wall is a clock without a monotonic hand.
type wall struct{ now time.Time }

func (w *wall) read() time.Time { return w.now }

var hubStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// tracing is an agent as far as traces and metrics need it, on a clock of the test's.
func tracing(t testing.TB, db state.Store) (*Agent, *wall) {
	t.Helper()
	w := &wall{hubStart}
	a := &Agent{cfg: Config{Agent: "a1", Clock: w.read, ReportEvery: 15 * time.Second}, log: slog.New(slog.DiscardHandler)}
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	a.ages = &ages{w.read, st.Servers, w.now, ""}
	a.reports = reports.New(reports.Config{Every: 15 * time.Second, Clock: w.read, Registerer: prometheus.NewRegistry()})
	a.met = newMetrics(prometheus.NewRegistry(), a.reports, a.ages, func() bool { return false })
	a.store = &guarded{Store: st, guard: guard.Open(guard.Config{Agent: "a1", Clock: w.read})}
	a.traces = trace.New(trace.Config{Agent: "a1", Store: st.Traces, Servers: a.reports, Clock: w.read, Logger: a.log, Registerer: prometheus.NewRegistry()})
	return a, w
}
