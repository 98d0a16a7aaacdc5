package events

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	releases *prometheus.CounterVec
	filed    prometheus.Counter
	records  prometheus.Counter
	waiting  prometheus.Gauge
}

func newMetrics() metrics {
	m := metrics{
		releases: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_hold_releases_total", Help: "Holds that were released, by who ended them.",
		}, []string{"kind"}),
		filed:   prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_events_filed_total", Help: "Events that this hub has filed."}),
		records: prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_event_records_total", Help: "Records of the log with those events, each on disk by itself."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_hub_events_waiting", Help: "Events that wait to be filed."}),
	}
	for _, k := range ReleaseKinds() {
		m.releases.WithLabelValues(string(k))
	}
	return m
}

func (m metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.releases, m.filed, m.records, m.waiting}
}

// Describe implements prometheus.Collector.
func (l *Log) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range l.metrics.all() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (l *Log) Collect(ch chan<- prometheus.Metric) {
	for _, c := range l.metrics.all() {
		c.Collect(ch)
	}
}
