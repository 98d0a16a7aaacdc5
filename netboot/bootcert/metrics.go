package bootcert

import "github.com/prometheus/client_golang/prometheus"

type storeMetrics struct {
	ends     *prometheus.GaugeVec
	failures prometheus.Counter
}

func newStoreMetrics() *storeMetrics {
	return &storeMetrics{
		ends: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rackboot_boot_certificate_end_timestamp_seconds",
			Help: "When the certificates of HTTPS boot end, by kind of key.",
		}, []string{"key"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_boot_certificate_failures_total",
			Help: "Looks at the certificates of HTTPS boot that found something wrong.",
		}),
	}
}

func (m *storeMetrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	if err := r.Register(m.ends); err != nil {
		return err
	}
	if err := r.Register(m.failures); err != nil {
		r.Unregister(m.ends)
		return err
	}
	return nil
}

func (m *storeMetrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	r.Unregister(m.ends)
	r.Unregister(m.failures)
}
