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
	waiting   prometheus.Gauge
	waited    prometheus.Histogram
}

func newMetrics(r prometheus.Registerer, q *queue, inFlight func() int) (*metrics, error) {
	m := &metrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_link_connected", Help: "1 while the broker connection is up and subscribed."}),
		connects:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_link_connects_total", Help: "Connection attempts by result."}, []string{"result"}),
		received:  prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_link_received_total", Help: "Messages that arrived."}),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_link_dropped_total", Help: "Messages dropped because the queue was full; their senders send again."}),
		published: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_link_published_total", Help: "Publishes by result."}, []string{"result"}),
		waiting:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "rackboot_link_publish_waiting", Help: "Publishes that wait for room among those in flight."}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_link_publish_wait_seconds", Help: "How long publishes waited for room among those in flight.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 10, 6),
		}),
	}
	for _, result := range []string{resultOK, resultFailed, resultRefused} {
		m.connects.WithLabelValues(result)
	}
	m.published.WithLabelValues(resultOK)
	m.published.WithLabelValues(resultFailed)
	if r == nil {
		return m, nil
	}
	gauge := func(name, help string, read func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	for _, c := range []prometheus.Collector{
		m.connected, m.connects, m.received, m.dropped, m.published, m.waiting, m.waited,
		gauge("rackboot_link_queue_messages", "Messages that wait to be handled.", q.len),
		gauge("rackboot_link_queue_bytes", "Size of the messages that wait to be handled.", q.size),
		gauge("rackboot_link_in_flight_messages", "Publishes that were sent and are not written or acknowledged yet.", inFlight),
	} {
		if err := r.Register(c); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "link.New", "cannot register metrics: %w", err)
		}
	}
	return m, nil
}
