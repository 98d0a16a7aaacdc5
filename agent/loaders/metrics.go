package loaders

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	loaders  *prometheus.GaugeVec
	loaded   prometheus.Counter
	failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		loaders: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "rackboot_boot_loaders", Help: "Boot loaders in use, by architecture.",
		}, []string{"architecture"}),
		loaded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_boot_loaders_changes_total", Help: "How often another set of boot loaders was taken into use.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_boot_loaders_failures_total", Help: "Looks at the folders of boot loaders that found something that cannot be used.",
		}),
	}
	reg.MustRegister(m.loaders, m.loaded, m.failures)
	return m
}
