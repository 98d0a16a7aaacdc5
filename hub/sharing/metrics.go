package sharing

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/fence"
	"rackboot/hub/store"
)

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

func (m metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.members, m.units, m.moved}
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

// alone is a hub that shares its store with nobody: it works everything until another one takes over.
type alone struct {
	metrics
	start   *fence.Start
	objects *store.Objects
}

// Alone are the metrics of a hub that shares its store with nobody.
func Alone(start *fence.Start, objects *store.Objects) prometheus.Collector {
	return alone{newMetrics(), start, objects}
}

// Collect implements prometheus.Collector.
func (a alone) Collect(ch chan<- prometheus.Metric) {
	a.members.Set(1)
	a.units.Set(0)
	if a.start.Works(fence.Site) {
		a.units.Set(float64(len(racksOf(a.objects)) + 1))
	}
	a.metrics.Collect(ch)
}
