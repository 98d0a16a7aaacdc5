package bootcert

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

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

func (m *storeMetrics) all() guard.Collectors { return guard.Collectors{m.ends, m.failures} }
