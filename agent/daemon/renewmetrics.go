package daemon

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/decide"
)

// What became of questions to the hub about certificate and keys.
const (
	renewRenewed  = "renewed"
	renewStanding = "standing"
	renewEnded    = "ended"
	renewDenied   = "denied"
	renewFailed   = "failed"
)

type renewMetrics struct {
	expiry   prometheus.Gauge
	renewals *prometheus.CounterVec
	off      *prometheus.GaugeVec
	apart    prometheus.Gauge
}

func newRenewMetrics(reg prometheus.Registerer) *renewMetrics {
	m := &renewMetrics{
		expiry: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_agent_certificate_expiry_timestamp_seconds", Help: "When the certificate of the link ends.",
		}),
		renewals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_renewals_total", Help: "Questions to the hub about certificate and keys, by result.",
		}, []string{"result"}),
		off: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rackboot_agent_clock_off", Help: "1 for whose clock is wrong: none, agent-behind, agent-ahead, hub-behind, hub-ahead or unsure.",
		}, []string{"who"}),
		apart: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_agent_clock_off_seconds", Help: "The host's clock less the one that it is compared with; 0 where none is wrong.",
		}),
	}
	for _, r := range []string{renewRenewed, renewStanding, renewEnded, renewDenied, renewFailed} {
		m.renewals.WithLabelValues(r)
	}
	reg.MustRegister(m.expiry, m.renewals, m.off, m.apart)
	return m
}

func (m *renewMetrics) clock(p decide.ClockPlan) {
	for _, who := range decide.ClockOffs() {
		is := 0.0
		if who == p.Off {
			is = 1
		}
		m.off.WithLabelValues(string(who)).Set(is)
	}
	m.apart.Set(p.By.Seconds())
}

func (m *renewMetrics) count(result string) { m.renewals.WithLabelValues(result).Inc() }
