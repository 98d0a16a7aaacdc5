package env

import "github.com/prometheus/client_golang/prometheus"

type metrics struct{ pulls, envPulls, isoPulls *prometheus.CounterVec }

func newMetrics() metrics {
	m := metrics{
		isoPulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_iso_pulls_total", Help: "Requests of agents for uploaded files, by result.",
		}, []string{"result"}),
		pulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_ignition_pulls_total", Help: "Sealed user data that agents asked for, by result.",
		}, []string{"result"}),
		envPulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_bootenv_pulls_total", Help: "Sealed boot environments that agents asked for, by result.",
		}, []string{"result"}),
	}
	for _, r := range []string{pullDone, pullDenied} {
		m.pulls.WithLabelValues(r)
		m.envPulls.WithLabelValues(r)
		m.isoPulls.WithLabelValues(r)
	}
	return m
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) {
	c.pulls.Describe(ch)
	c.envPulls.Describe(ch)
	c.isoPulls.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) {
	c.pulls.Collect(ch)
	c.envPulls.Collect(ch)
	c.isoPulls.Collect(ch)
}
