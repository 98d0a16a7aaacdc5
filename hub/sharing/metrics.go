package sharing

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	members, units prometheus.Gauge
	moved          *prometheus.CounterVec
}

// The values of the label of moved.
const (
	took = "took"
	left = "left"
)

func newMetrics() metrics {
	m := metrics{
		members: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_hub_members", Help: "Hubs on this store that are alive, this one among them."}),
		units:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_hub_units", Help: "Racks, and the site, that this hub works."}),
		moved: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_units_moved_total", Help: "Units that this hub took from another one or from nobody, or left to another one.",
		}, []string{"how"}),
	}
	for _, how := range []string{took, left} {
		m.moved.WithLabelValues(how)
	}
	return m
}

func (r *Room) collectors() []prometheus.Collector {
	return []prometheus.Collector{r.metrics.members, r.metrics.units, r.metrics.moved}
}

// Describe implements prometheus.Collector.
func (r *Room) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range r.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (r *Room) Collect(ch chan<- prometheus.Metric) {
	for _, c := range r.collectors() {
		c.Collect(ch)
	}
}
