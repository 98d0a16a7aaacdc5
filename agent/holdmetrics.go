package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

// reportedStates are the states of holds that an agent reports.
var reportedStates = []resource.HoldState{
	resource.StateEnforced, resource.StateStopping, resource.StateForcing, resource.StateFenced,
	resource.StateConfirmed, resource.StateViolated, resource.StateUnreachable,
}

// collectHolds are the gauges of holds and of how old the reads are.
func (m *metrics) collectHolds(servers []resource.ServerReport, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	now := m.ages.clock()
	age := func(t time.Time) float64 { return max(0, now.Sub(t).Seconds()) }
	states, unread := map[resource.HoldState]int{}, 0.0
	stale, poll := 0.0, m.ages.poll()
	for _, s := range servers {
		if _, old := m.ages.read(s, poll); old {
			stale++
		}
		if at := s.Observation.ReadAt; !at.IsZero() {
			unread = max(unread, age(at))
		}
		for _, h := range s.Holds {
			states[h.State]++
		}
	}
	for _, s := range reportedStates {
		gauge(m.held, float64(states[s]), string(s))
	}
	gauge(m.unread, unread)
	gauge(m.stale, stale)
	oldest := map[resource.StopMode]float64{}
	if o, err := m.ages.servers.Overview(); err == nil {
		for _, h := range o.Holds {
			mode := resource.StopSoft // so is one whose mode cannot be read
			if h.Mode == resource.StopHard {
				mode = h.Mode
			}
			oldest[mode] = max(oldest[mode], age(h.EnforcedAt))
		}
	}
	for _, mode := range []resource.StopMode{resource.StopSoft, resource.StopHard} {
		gauge(m.oldest, oldest[mode], string(mode))
	}
}
