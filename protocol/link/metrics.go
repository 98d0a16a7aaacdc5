package link

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// Results of connection attempts and publishes, the values of the label result.
const (
	resultOK      = "ok"
	resultFailed  = "failed"
	resultRefused = "refused" // a topic filter was refused
)

type metrics struct {
	connected prometheus.Gauge
	connects  *prometheus.CounterVec
	received  prometheus.Counter
	dropped   prometheus.Counter
	published *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer, q *queue) (*metrics, error) {
	m := &metrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_link_connected", Help: "1 while the broker connection is up and subscribed."}),
		connects:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_link_connects_total", Help: "Connection attempts by result."}, []string{"result"}),
		received:  prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_link_received_total", Help: "Messages that arrived."}),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_link_dropped_total", Help: "Messages dropped because the queue was full; their senders send again."}),
		published: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_link_published_total", Help: "Publishes by result."}, []string{"result"}),
	}
	for _, result := range []string{resultOK, resultFailed, resultRefused} {
		m.connects.WithLabelValues(result)
	}
	m.published.WithLabelValues(resultOK)
	m.published.WithLabelValues(resultFailed)
	if r == nil {
		return m, nil
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_link_queue_messages", Help: "Messages that wait to be handled."},
		func() float64 { return float64(q.len()) })
	for _, c := range []prometheus.Collector{m.connected, m.connects, m.received, m.dropped, m.published, waiting} {
		if err := r.Register(c); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "link.New", "cannot register metrics: %w", err)
		}
	}
	return m, nil
}
