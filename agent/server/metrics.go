package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// metrics count what the loops of all servers do.
type metrics struct {
	attempts                attemptMetrics
	wakes, media            *prometheus.CounterVec
	unexpected, safeStops   *prometheus.CounterVec
	fenced                  prometheus.Histogram
	violations, escalations prometheus.Counter
	unrecorded              prometheus.Counter
	voided                  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{attempts: newAttemptMetrics(), wakes: newWakes(), media: newMediaActions()}
	m.newHolds()
	m.newSafeStops()
	m.attempts.register(reg)
	reg.MustRegister(m.wakes, m.media, m.unexpected, m.safeStops, m.fenced, m.violations, m.escalations, m.unrecorded, m.voided)
	return m
}

func (m *metrics) newHolds() {
	m.fenced = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rackboot_agent_fence_latency_seconds", Help: "From Enforced to the receipt of each hold that was proved.",
		Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 600, 1800},
	})
	m.violations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_agent_hold_violations_total", Help: "Holds under which a server was seen to run, or to have run.",
	})
	m.voided = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_receipts_voided_total", Help: "Receipts that counted no more although nothing was seen to run: the agent had started again (run), had not read the server for too long (gap), or could not record what it read (guard).",
	}, []string{"why"})
	for _, v := range decide.Voidings() {
		m.voided.WithLabelValues(string(v))
	}
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
	for _, v := range d.Voided {
		m.voided.WithLabelValues(string(v)).Inc()
	}
	m.escalations.Add(float64(d.Escalations))
	m.attempts.measure(d)
	for _, by := range d.Unexpected {
		m.unexpected.WithLabelValues(string(by)).Inc()
	}
	for _, s := range d.SafeStops {
		m.safeStops.WithLabelValues(string(s)).Inc()
	}
}
