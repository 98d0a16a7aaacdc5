package reports

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol/resource"
)

// holding is a report of a server with one hold.
func holding(server int, word resource.HoldWord, state resource.HoldState) resource.ServerReport {
	s := numbered(server)
	s.Holds = []resource.HoldReport{{ID: "h", Word: word, State: state}}
	return s
}

// TestHoldsMoved: what a hold has come to is urgent, and nothing else is.
func TestHoldsMoved(t *testing.T) {
	base := holding(1, resource.HoldEnforced, resource.StateStopping).Holds
	for name, row := range map[string]struct {
		change func(h *resource.HoldReport)
		want   bool
	}{
		"nothing":           {func(*resource.HoldReport) {}, false},
		"reason":            {func(h *resource.HoldReport) { h.Reason = "BMC is busy" }, false},
		"fenced":            {func(h *resource.HoldReport) { h.Word, h.State = resource.HoldFenced, resource.StateFenced }, true},
		"violated":          {func(h *resource.HoldReport) { h.State = resource.StateViolated }, true},
		"unreachable":       {func(h *resource.HoldReport) { h.State = resource.StateUnreachable }, true},
		"released":          {func(h *resource.HoldReport) { h.Word = resource.HoldReleased }, true},
		"released there":    {func(h *resource.HoldReport) { h.Released = &resource.Release{HoldID: "h"} }, true},
		"another took over": {func(h *resource.HoldReport) { h.ID = "other" }, true},
	} {
		now := []resource.HoldReport{base[0]}
		row.change(&now[0])
		if got := holdsMoved(base, now); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !holdsMoved(nil, base) || !holdsMoved(base, nil) {
		t.Error("a hold that comes or goes is not urgent")
	}
}

// TestHoldsPastTheLimit: what a hold has come to goes out though its shard has used up
// its reports, as often as hurryBurst and hurryEvery allow, and nothing of it is lost.
func TestHoldsPastTheLimit(t *testing.T) {
	r, w := reporting(t)
	r.Put(holding(1, resource.HoldEnforced, resource.StateEnforced), resource.PhaseInitial)
	if len(r.sent()) != 1 || len(r.hurried) != 1 {
		t.Fatal("a new hold is not reported at once")
	}
	<-r.hurried
	for i := range 2 * reportBurst {
		s := holding(1, resource.HoldEnforced, resource.StateEnforced)
		s.PowerEpoch = uint64(i + 1)
		r.Put(s, resource.PhaseInitial)
		r.sent()
	}
	if len(r.hurried) != 0 || len(r.poked) != 1 {
		t.Fatal("another change goes past the limit")
	}
	<-r.poked
	states := []resource.HoldState{resource.StateStopping, resource.StateForcing}
	sent := 0
	for i := range 2 * hurryBurst {
		r.Put(holding(1, resource.HoldEnforced, states[i%2]), resource.PhaseInitial)
		sent += len(r.sent())
	}
	if sent != hurryBurst-1 {
		t.Errorf("%d reports at once, want %d", sent, hurryBurst-1)
	}
	if len(r.poked) != 1 {
		t.Error("what is beyond that does not go the ordinary way")
	}
	for way, want := range map[string]int{hurriedAtOnce: hurryBurst, hurriedLater: hurryBurst + 1} {
		if got := int(testutil.ToFloat64(r.counts.WithLabelValues(way))); got != want {
			t.Errorf("%s: %d, want %d", way, got, want)
		}
	}
	w.now = w.now.Add(reportEvery)
	reports, _ := r.due(nothing{})
	if len(reports) != 1 || reports[0].Servers[0].Holds[0].State != states[1] {
		t.Errorf("after a second: %+v", reports)
	}
	r.Put(holding(1, resource.HoldFenced, resource.StateFenced), resource.PhaseInitial)
	if len(r.sent()) != 1 {
		t.Error("the bucket does not fill again")
	}
}
