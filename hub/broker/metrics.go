package broker

import (
	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"
)

// brokerMetrics count what the broker does itself.
type brokerMetrics struct {
	refused, replaced, kept, reopened prometheus.Counter
}

func newBrokerMetrics() *brokerMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_broker_" + name, Help: help})
	}
	return &brokerMetrics{
		refused:  counter("refused_total", "Connections refused after their TLS handshake."),
		replaced: counter("connections_replaced_total", "Connections ended because newer ones of the same certificate came."),
		kept:     counter("sessions_refused_total", "MQTT sessions refused because the client wanted them kept."),
		reopened: counter("store_reopened_total", "Times the store was opened again after it had failed."),
	}
}

func (b *Broker) register() error {
	r := b.cfg.Registerer
	if r == nil {
		return nil
	}
	m := b.metrics
	failing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_broker_store_failing", Help: "1 while the store takes no writes."}, func() float64 {
		if b.Healthy() != nil {
			return 1
		}
		return 0
	})
	for _, c := range []prometheus.Collector{m.refused, m.replaced, m.kept, m.reopened, failing, newCollector(b.server.Load)} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// collector reads the server's own counters when it is asked. A read goes over all
// connections, under one lock each.
type collector struct {
	now func() *server.Server

	connections, sessions, subscriptions, slow *prometheus.Desc
	messages, bytes, pending, used             *prometheus.Desc
}

// Values of the labels.
const (
	directionIn   = "in"  // to the broker
	directionOut  = "out" // from the broker
	storageDisk   = "disk"
	storageMemory = "memory"
)

func newCollector(now func() *server.Server) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_broker_"+name, help, labels, nil)
	}
	return &collector{
		now:           now,
		connections:   desc("connections", "Open connections, those within the hub included."),
		sessions:      desc("mqtt_sessions", "MQTT sessions that are kept."),
		subscriptions: desc("subscriptions", "Subscriptions of all connections."),
		slow:          desc("slow_consumers_total", "Connections closed because they read too slowly."),
		messages:      desc("messages_total", "Messages, those within the hub included.", "direction"),
		bytes:         desc("message_bytes_total", "Bytes of messages, those within the hub included.", "direction"),
		pending:       desc("pending_bytes", "Bytes that wait for connections to read them."),
		used:          desc("store_used_bytes", "Size of what JetStream keeps.", "storage"),
	}
}

func (c *collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.now()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge(c.connections, float64(s.NumClients()))
	gauge(c.subscriptions, float64(s.NumSubscriptions()))
	counter(c.slow, float64(s.NumSlowConsumers()))
	if v, err := s.Varz(nil); err != nil {
		out <- prometheus.NewInvalidMetric(c.messages, err)
	} else {
		counter(c.messages, float64(v.InMsgs), directionIn)
		counter(c.messages, float64(v.OutMsgs), directionOut)
		counter(c.bytes, float64(v.InBytes), directionIn)
		counter(c.bytes, float64(v.OutBytes), directionOut)
	}
	if list, err := s.Connz(&server.ConnzOptions{Limit: s.NumClients() + 1}); err != nil {
		out <- prometheus.NewInvalidMetric(c.pending, err)
	} else {
		sum := 0
		for _, one := range list.Conns {
			sum += one.Pending
		}
		gauge(c.pending, float64(sum))
	}
	if js, err := s.Jsz(&server.JSzOptions{Accounts: true, Streams: true}); err != nil {
		out <- prometheus.NewInvalidMetric(c.used, err)
	} else {
		gauge(c.used, float64(js.Store), storageDisk)
		gauge(c.used, float64(js.Memory), storageMemory)
		gauge(c.sessions, float64(sessions(js)))
	}
}

// sessions are the records of the stream that MQTT keeps them in.
func sessions(js *server.JSInfo) (n uint64) {
	for _, account := range js.AccountDetails {
		for _, stream := range account.Streams {
			if stream.Name == sessionStream {
				n += stream.State.Msgs
			}
		}
	}
	return n
}
