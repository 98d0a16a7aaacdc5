package discover

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

type metrics struct {
	count   func() map[resource.FoundBy]int
	bmcs    *prometheus.Desc
	scans   prometheus.Counter
	refused prometheus.Counter
	answers *prometheus.CounterVec
}

func newMetrics(count func() map[resource.FoundBy]int) *metrics {
	m := &metrics{
		count: count,
		bmcs:  prometheus.NewDesc("rackboot_discover_bmcs", "BMCs that were found, by way.", []string{"by"}, nil),
		scans: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_discover_scans_total", Help: "Scans of segments that came to their end.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_discover_refused_total", Help: "BMCs that were found and not kept, because there were too many.",
		}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_discover_answers_total", Help: "Addresses that were asked for a service root, by what became of it.",
		}, []string{"result"}),
	}
	for _, r := range results {
		m.answers.WithLabelValues(string(r))
	}
	return m
}

func (m *metrics) counters() []prometheus.Collector {
	return []prometheus.Collector{m.scans, m.refused, m.answers}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.bmcs
	for _, c := range m.counters() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	n := m.count()
	for _, by := range []resource.FoundBy{resource.FoundByLease, resource.FoundByScan} {
		ch <- prometheus.MustNewConstMetric(m.bmcs, prometheus.GaugeValue, float64(n[by]), string(by))
	}
	for _, c := range m.counters() {
		c.Collect(ch)
	}
}
