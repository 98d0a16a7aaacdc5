package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

func (m *metrics) newHolds() {
	m.fenced = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rackboot_agent_fence_latency_seconds", Help: "From Enforced to the receipt of each hold that was proved.",
		Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 600, 1800},
	})
	m.violations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_agent_hold_violations_total", Help: "Holds under which a server was seen to run, or to have run.",
	})
	m.escalations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_agent_soft_escalations_total", Help: "Soft stops that came to a ForceOff.",
	})
	m.unrecorded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_agent_unrecorded_stops_total", Help: "Held servers that were forced off while the agent could not write to its disk.",
	})
}

func (m *metrics) newSafeStops() {
	m.unexpected = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_unexpected_power_total", Help: "Power transitions without an order, by what showed them.",
	}, []string{"by"})
	for _, by := range protocol.UnexpectedBys() {
		m.unexpected.WithLabelValues(string(by))
	}
	m.safeStops = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_safe_stops_total", Help: "Servers that came on without an order and were found to stand, by whether that was seen or is believed.",
	}, []string{"stands"})
	for _, s := range []protocol.Stands{protocol.StandsStopped, protocol.StandsBelieved} {
		m.safeStops.WithLabelValues(string(s))
	}
}

// measure takes over what a plan that is on disk has measured.
func (m *metrics) measure(d decide.Measured) {
	for _, latency := range d.Fenced {
		m.fenced.Observe(latency.Seconds())
	}
	m.violations.Add(float64(d.Violations))
	m.escalations.Add(float64(d.Escalations))
	m.attemptMetrics.measure(d)
	for _, by := range d.Unexpected {
		m.unexpected.WithLabelValues(string(by)).Inc()
	}
	for _, s := range d.SafeStops {
		m.safeStops.WithLabelValues(string(s)).Inc()
	}
}

// reportedStates are the states of holds that an agent reports.
var reportedStates = []resource.HoldState{
	resource.StateEnforced, resource.StateStopping, resource.StateForcing, resource.StateFenced,
	resource.StateConfirmed, resource.StateViolated, resource.StateUnreachable,
}

// collectHolds are the gauges of holds and of how old the reads are.
func (m *metrics) collectHolds(servers []resource.ServerReport, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	now := m.agent.cfg.Clock()
	age := func(t time.Time) float64 { return max(0, now.Sub(t).Seconds()) }
	states, unread := map[resource.HoldState]int{}, 0.0
	stale, poll := 0.0, m.agent.poll()
	for _, s := range servers {
		if _, old := m.agent.read(s, poll); old {
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
	if o, err := m.agent.store.Overview(); err == nil {
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
