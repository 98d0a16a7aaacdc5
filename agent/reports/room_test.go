package reports

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// wall is a clock of the test's.
type wall struct{ now time.Time }

func (w *wall) read() time.Time { return w.now }

// nothing was found.
type nothing struct{}

func (nothing) Found() []resource.FoundBMC { return nil }

// reporting is a room on a clock of the test's.
func reporting(t *testing.T) (*Room, *wall) {
	t.Helper()
	w := &wall{start}
	return New(Config{Every: 15 * time.Second, Clock: w.read, Registerer: prometheus.NewRegistry()}), w
}

func (r *Room) sent() (shards []int) {
	reports, _ := r.due(nothing{})
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
		r.Put(numbered(119-i), resource.PhaseInitial)
	}
	where := map[string]int{}
	reports, _ := r.due(nothing{})
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
	r.Put(s, resource.PhaseInitial)
	if got := r.sent(); !slices.Equal(got, []int{where["n000"]}) {
		t.Errorf("shards %v were sent, want %d", got, where["n000"])
	}
	s.Observation.ReadAt = w.now // the same, read again
	r.Put(s, resource.PhaseInitial)
	if got := r.sent(); len(got) != 0 {
		t.Errorf("a mere read was sent: %v", got)
	}
	w.now = w.now.Add(15 * time.Second)
	if got := r.sent(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("in time came %v", got)
	}
	r.Raise(resource.CondGuardMode, "x")
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
		r.Put(s, resource.PhaseInitial)
		reports, next := r.due(nothing{})
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
	if reports, _ := r.due(nothing{}); len(reports) == 1 {
		last = reports[0].Servers[0].PowerEpoch
	}
	if last != 600 {
		t.Errorf("the last report says %d", last)
	}
}

// TestFading: a condition of messages ends by itself after the last of them.
func TestFading(t *testing.T) {
	r, w := reporting(t)
	r.RaiseFor(resource.CondTwoHubs, "a", 10*time.Minute)
	w.now = w.now.Add(10*time.Minute - time.Second)
	r.RaiseFor(resource.CondTwoHubs, "a", 10*time.Minute)
	w.now = w.now.Add(10 * time.Minute)
	if _, conds := r.Snapshot(); len(conds) != 1 || !conds[0].Since.Equal(start) {
		t.Errorf("%+v", conds)
	}
	w.now = w.now.Add(time.Second)
	if _, conds := r.Snapshot(); len(conds) != 0 {
		t.Errorf("%+v", conds)
	}
}

// What the hub has of a shard is not said again, but when its servers were read: until something
// changes, the hub has lost it, or some minutes have passed.
func TestAsBefore(t *testing.T) {
	r, w := reporting(t)
	s := numbered(1)
	s.Observation.StartedAt, s.Observation.ReadAt = w.now.Add(-3*time.Second), w.now.Add(-2*time.Second)
	put := func(epoch uint64) { s.PowerEpoch = epoch; r.Put(s, resource.PhaseInitial) }
	// next is the report that comes d later: its number, or less that for which it stands.
	next := func(d time.Duration) int {
		t.Helper()
		w.now = w.now.Add(d)
		reports, _ := r.due(nothing{})
		if len(reports) != 1 {
			t.Fatalf("%d reports", len(reports))
		}
		m := reports[0]
		switch {
		case m.As == 0 && len(m.Servers) == 1 && m.Reads == nil && m.Servers[0].PowerEpoch == s.PowerEpoch:
			return int(m.Seq)
		case m.As > 0 && m.Servers == nil && m.Found == nil && len(m.Reads) == 1:
			if age := w.now.Sub(s.Observation.StartedAt); m.Reads[0] != (message.Read{Age: age, Took: time.Second}) {
				t.Errorf("read %+v", m.Reads[0])
			}
			return -int(m.As)
		}
		t.Fatalf("%+v", m)
		return 0
	}
	const every = 15 * time.Second
	put(1)
	for i, step := range []struct {
		before func()
		want   int
	}{
		{func() {}, 1},
		{func() {}, 2},                              // the hub has not said what it has
		{func() { r.Had([]uint64{1}) }, -1},         // nothing has changed since
		{func() { s.Observation.Source = "x" }, -1}, // a read is no change
		{func() { put(2) }, 5},
		{func() { r.Had([]uint64{2}) }, 6}, // not what is so now
		{func() { r.Had([]uint64{6}) }, -6},
		{func() { r.Had(nil) }, 8}, // it has lost all
		{func() { r.Had([]uint64{8}) }, -8},
		{r.PokeAll, -8}, // what it says of itself is in each
		{func() { r.Had([]uint64{8, 7}) }, -8},
		{r.PokeFound, 12},
		{func() { r.Had([]uint64{12}) }, -12},
	} {
		step.before()
		if got := next(every); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
	for n := 1; ; n++ { // the last whole one was one step before
		if got := next(every); got > 0 {
			if after := time.Duration(n+1) * every; after < wholeEvery/2 || after > wholeEvery {
				t.Errorf("whole after %s", after)
			}
			break
		}
	}
	if got := next(every); got != -12 {
		t.Errorf("%d after that: it says the same", got)
	}
}

// A shard whose inventories did not all fit is said whole until they were sent.
func TestAsBeforeWaitsForInventories(t *testing.T) {
	r, w := reporting(t)
	for i := range 20 {
		r.Put(imaged(i, 4<<10, "a"), resource.PhaseInitial)
	}
	r.Had([]uint64{1 << 30}) // whatever comes
	sent := 0
	for {
		reports, _ := r.due(nothing{})
		w.now = w.now.Add(15 * time.Second)
		if len(reports) != 1 {
			t.Fatalf("%d reports", len(reports))
		}
		if reports[0].As > 0 {
			break
		}
		for _, s := range reports[0].Servers {
			if s.Image.Inventory != nil {
				sent++
			}
		}
	}
	if sent < 20 || sent > 24 {
		t.Errorf("%d inventories before the first report that stands for another", sent)
	}
}
