package intake

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
)

type metrics struct {
	lanes           []*lane
	messages, bytes *prometheus.Desc
	dropped         *prometheus.CounterVec
	overtaken       *prometheus.CounterVec
	waited          *prometheus.HistogramVec
}

func newMetrics(lanes []*lane) *metrics {
	m := &metrics{
		lanes:    lanes,
		messages: prometheus.NewDesc("rackboot_hub_intake_messages", "Messages of agents that wait to be handled, by lane.", []string{"lane"}, nil),
		bytes:    prometheus.NewDesc("rackboot_hub_intake_bytes", "Size of the messages of agents that wait to be handled, by lane.", []string{"lane"}, nil),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_intake_dropped_total", Help: "Messages of agents that were dropped because too much waited: of their agent (line), or in all (lane). Their senders send again.",
		}, []string{"kind", "reason"}),
		overtaken: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_intake_overtaken_total", Help: "Messages of agents that were not read because a newer one that says all of it was, by kind.",
		}, []string{"kind"}),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_hub_intake_wait_seconds", Help: "How long messages of agents waited to be handled, by lane.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
		}, []string{"lane"}),
	}
	for _, l := range lanes {
		m.waited.WithLabelValues(l.name)
	}
	for _, k := range []string{message.LeafReport, message.LeafEvent} {
		m.overtaken.WithLabelValues(k)
	}
	for _, k := range kinds {
		for _, w := range whys {
			m.dropped.WithLabelValues(k, string(w))
		}
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.messages
	ch <- m.bytes
	m.dropped.Describe(ch)
	m.overtaken.Describe(ch)
	m.waited.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for _, l := range m.lanes {
		messages, bytes := l.waiting()
		ch <- prometheus.MustNewConstMetric(m.messages, prometheus.GaugeValue, float64(messages), l.name)
		ch <- prometheus.MustNewConstMetric(m.bytes, prometheus.GaugeValue, float64(bytes), l.name)
	}
	m.dropped.Collect(ch)
	m.overtaken.Collect(ch)
	m.waited.Collect(ch)
}
