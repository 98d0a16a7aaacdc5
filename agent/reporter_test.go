package agent

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/discover"
	"rackboot/netboot"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// reporting is a reporter on a clock of the test's.
func reporting(t *testing.T) (*reporter, *wall) {
	w := &wall{hubStart}
	a := &Agent{cfg: Config{Clock: w.read, ReportEvery: 15 * time.Second}}
	a.report = newReporter(a)
	a.met = newMetrics(prometheus.NewRegistry(), a)
	f, err := discover.New(discover.Config{Leases: noLeases{}, Changed: a.report.pokeFound, Clock: w.read})
	if err != nil {
		t.Fatal(err)
	}
	a.finder = f
	return a.report, w
}

// noLeases is a lease store that nobody reads.
type noLeases struct{ netboot.LeaseStore }

func (r *reporter) sent() (shards []int) {
	reports, _ := r.due()
	for _, m := range reports {
		shards = append(shards, m.Shard)
	}
	return shards
}

func numbered(i int) resource.ServerReport {
	return resource.ServerReport{Server: fmt.Sprintf("n%03d", i)}
}

// TestReportShards: only the shard that changed is sent, every shard in time, and a
// server stays in its shard whatever comes before it in the alphabet.
func TestReportShards(t *testing.T) {
	r, w := reporting(t)
	for i := range 120 {
		r.put(numbered(119-i), resource.PhaseInitial)
	}
	where := map[string]int{}
	reports, _ := r.due()
	for _, m := range reports {
		if m.Shards != 3 || len(m.Servers) > message.MaxServersPerShard {
			t.Fatalf("shard %d of %d has %d servers", m.Shard, m.Shards, len(m.Servers))
		}
		for _, s := range m.Servers {
			where[s.Server] = m.Shard
		}
	}
	if len(where) != 120 || len(r.sent()) != 0 {
		t.Fatalf("%d servers", len(where))
	}
	s := numbered(0)
	s.PowerEpoch++
	r.put(s, resource.PhaseInitial)
	if got := r.sent(); !slices.Equal(got, []int{where["n000"]}) {
		t.Errorf("shards %v were sent, want %d", got, where["n000"])
	}
	s.Observation.ReadAt = w.now // the same, read again
	r.put(s, resource.PhaseInitial)
	if got := r.sent(); len(got) != 0 {
		t.Errorf("a mere read was sent: %v", got)
	}
	w.now = w.now.Add(15 * time.Second)
	if got := r.sent(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("in time came %v", got)
	}
	r.raise(resource.CondStoreFailing, "x")
	if got := r.sent(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("a condition of the agent is in %v", got)
	}
}

// TestReportRate: one server that changes all the time does not flood the hub, and
// what came last is sent.
func TestReportRate(t *testing.T) {
	r, w := reporting(t)
	n, last := 0, uint64(0)
	for i := range 600 { // a minute
		s := numbered(1)
		s.PowerEpoch = uint64(i + 1)
		r.put(s, resource.PhaseInitial)
		reports, next := r.due()
		for _, m := range reports {
			n, last = n+1, m.Servers[0].PowerEpoch
		}
		if len(reports) == 0 && next > reportEvery {
			t.Fatalf("the next look is in %v", next)
		}
		w.now = w.now.Add(100 * time.Millisecond)
	}
	if n < 60 || n > 70 {
		t.Errorf("%d reports in a minute", n)
	}
	w.now = w.now.Add(reportEvery)
	if reports, _ := r.due(); len(reports) == 1 {
		last = reports[0].Servers[0].PowerEpoch
	}
	if last != 600 {
		t.Errorf("the last report says %d", last)
	}
}

// TestFading: a condition of messages ends by itself after the last of them.
func TestFading(t *testing.T) {
	r, w := reporting(t)
	r.raiseFor(resource.CondTwoHubs, "a", fades)
	w.now = w.now.Add(fades - time.Second)
	r.raiseFor(resource.CondTwoHubs, "a", fades)
	w.now = w.now.Add(fades)
	if _, conds := r.snapshot(); len(conds) != 1 || !conds[0].Since.Equal(hubStart) {
		t.Errorf("%+v", conds)
	}
	w.now = w.now.Add(time.Second)
	if _, conds := r.snapshot(); len(conds) != 0 {
		t.Errorf("%+v", conds)
	}
}
