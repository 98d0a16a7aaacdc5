package stream

import "github.com/prometheus/client_golang/prometheus"

// metrics count events. It is a prometheus.Collector of what is read now.
type metrics struct {
	room                   *Room
	events                 prometheus.Counter
	webhooks               *prometheus.CounterVec
	streams, subscriptions *prometheus.Desc
}

func newMetrics(x *Room) *metrics {
	m := &metrics{
		room: x, webhooks: newWebhooks(),
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_bmc_events_total", Help: "Events of BMCs, each of which makes the next read come sooner.",
		}),
		streams:       prometheus.NewDesc("rackboot_agent_bmc_streams", "BMCs whose event stream is read, or opened again soon.", nil, nil),
		subscriptions: prometheus.NewDesc("rackboot_agent_bmc_subscriptions", "BMCs without an event stream that send events to the agent's HTTP server.", nil, nil),
	}
	x.cfg.Registerer.MustRegister(m, m.events, m.webhooks)
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.streams
	ch <- m.subscriptions
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	open, subscribed := m.room.count()
	ch <- prometheus.MustNewConstMetric(m.streams, prometheus.GaugeValue, float64(open))
	ch <- prometheus.MustNewConstMetric(m.subscriptions, prometheus.GaugeValue, float64(subscribed))
}

var _ prometheus.Collector = (*metrics)(nil)
