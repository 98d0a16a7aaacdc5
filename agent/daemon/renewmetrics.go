package daemon

import "github.com/prometheus/client_golang/prometheus"

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
}

func newRenewMetrics(reg prometheus.Registerer) *renewMetrics {
	m := &renewMetrics{
		expiry: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_agent_certificate_expiry_timestamp_seconds", Help: "When the certificate of the link ends.",
		}),
		renewals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_renewals_total", Help: "Questions to the hub about certificate and keys, by result.",
		}, []string{"result"}),
	}
	for _, r := range []string{renewRenewed, renewStanding, renewEnded, renewDenied, renewFailed} {
		m.renewals.WithLabelValues(r)
	}
	reg.MustRegister(m.expiry, m.renewals)
	return m
}

func (m *renewMetrics) count(result string) { m.renewals.WithLabelValues(result).Inc() }
