package sharing

import (
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	members, units prometheus.Gauge
	moved          *prometheus.CounterVec
	handover       prometheus.Histogram
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
		handover: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_hub_handover_seconds", Help: "From the last beat of the hub that worked before until this one has all it is to work.",
			Buckets: []float64{.1, .25, .5, 1, 2, 4, 6, 8, 10, 15, 30, 60},
		}),
	}
	for _, how := range []string{took, left} {
		m.moved.WithLabelValues(how)
	}
	return m
}

func (m metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.members, m.units, m.moved, m.handover}
}

// Describe implements prometheus.Collector.
func (m metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(ch)
	}
}

// Metrics are those of the room.
func (r *Room) Metrics() prometheus.Collector { return r.metrics }

// Metrics are those of a hub that is alone.
func (a Alone) Metrics() prometheus.Collector { return aloneMetrics{newMetrics(), a} }

type aloneMetrics struct {
	metrics
	Alone
}

// Collect implements prometheus.Collector.
func (m aloneMetrics) Collect(ch chan<- prometheus.Metric) {
	m.members.Set(1)
	m.metrics.units.Set(float64(len(m.Alone.units())))
	m.metrics.Collect(ch)
}
