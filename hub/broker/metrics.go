package broker

import (
	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"
)

func newRefused() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_broker_refused_total", Help: "Connections refused after their TLS handshake."})
}

func register(r prometheus.Registerer, s *server.Server, refused prometheus.Counter) error {
	if r == nil {
		return nil
	}
	for _, c := range []prometheus.Collector{
		refused,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_broker_connections", Help: "Open connections, those within the hub included."},
			func() float64 { return float64(s.NumClients()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_broker_subscriptions", Help: "Subscriptions of all connections."},
			func() float64 { return float64(s.NumSubscriptions()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "rackboot_broker_slow_consumers_total", Help: "Connections closed because they read too slowly."},
			func() float64 { return float64(s.NumSlowConsumers()) }),
	} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
