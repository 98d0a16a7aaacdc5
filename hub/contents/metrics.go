package contents

import "github.com/prometheus/client_golang/prometheus"

// The results of fetching and putting.
const (
	resultDone    = "done"
	resultNoRoom  = "no_room"
	resultDamaged = "damaged"
	resultFailed  = "failed"
)

type metrics struct {
	lacking, unstored      prometheus.Gauge
	fetches, stores        *prometheus.CounterVec
	fetched, sent, removed prometheus.Counter
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_content_" + name, Help: help})
	}
	results := func(name, help string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_hub_content_" + name, Help: help}, []string{"result"})
		for _, r := range []string{resultDone, resultNoRoom, resultDamaged, resultFailed} {
			v.WithLabelValues(r)
		}
		return v
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		lacking:  gauge("rackboot_hub_content_lacking", "Contents that a name, a package of agents, a document or an image names and that are not in this hub's folder; 0 of a hub whose store is in its folder."),
		unstored: gauge("rackboot_hub_content_unstored", "Contents that are named, in this hub's folder, and not yet on the servers of the store; 0 of a hub whose store is in its folder."),
		fetches:  results("fetches_total", "Contents fetched from the servers of the store, by result: done, no_room, damaged or failed."),
		stores:   results("stores_total", "Contents put on the servers of the store, or found there, by result: done, no_room, damaged or failed."),
		fetched:  counter("fetched_bytes_total", "Bytes of contents fetched from the servers of the store."),
		sent:     counter("sent_bytes_total", "Bytes of contents sent to the servers of the store."),
		removed:  counter("removed_total", "Contents removed from the servers of the store because nothing named them."),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.lacking, m.unstored, m.fetches, m.stores, m.fetched, m.sent, m.removed}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
}

// Alone are the metrics of a hub whose store is in its folder: nothing happens.
func Alone() prometheus.Collector { return newMetrics() }
