package daemon

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/broker"
	"rackboot/hub/cluster"
	"rackboot/state/jetstream"
)

// place is where the hub's store is.
type place struct {
	streams jetstream.Config // but for their names
	// bulk is how contents go to servers of the user's own, beside the store: over a connection of its own, so that no hold
	// waits behind pieces of a file. Without a connection there are none.
	bulk    jetstream.Config
	healthy func() error // says why nothing can be written
	close   func()
}

// openPlace goes where the file says. b is the server within the process.
func (c *Config) openPlace(ctx context.Context, b *broker.Broker, log *slog.Logger, reg prometheus.Registerer) (place, error) {
	lost := cluster.NewLost()
	if err := reg.Register(lost); err != nil {
		return place{}, err
	}
	if c.Store.NATS != nil {
		return servers(ctx, *c.Store.NATS, log, lost)
	}
	return inProcess(ctx, b, log)
}

// inProcess is the server within the process.
func inProcess(ctx context.Context, b *broker.Broker, log *slog.Logger) (place, error) {
	conn, err := b.Conn(ctx)
	if err != nil {
		return place{}, err
	}
	return place{streams: jetstream.Config{Conn: conn, Logger: log}, healthy: b.Healthy, close: func() {}}, nil
}

// servers are NATS servers of the user's own.
func servers(ctx context.Context, n cluster.Config, log *slog.Logger, lost prometheus.Counter) (place, error) {
	to, err := cluster.Dial(ctx, n, log, lost)
	if err != nil {
		return place{}, err
	}
	bulk, err := cluster.Dial(ctx, n, log, lost)
	if err != nil {
		to.Close()
		return place{}, err
	}
	streams := jetstream.Config{Conn: to.Conn(), Replicas: n.Replicas, Domain: n.Domain, Timeout: cluster.CallTimeout, Elsewhere: to.Elsewhere, Logger: log}
	at := place{streams: streams, bulk: streams, healthy: to.Healthy, close: func() {
		bulk.Close()
		to.Close()
	}}
	at.bulk.Conn, at.bulk.Name, at.bulk.Elsewhere = bulk.Conn(), filesStream, bulk.Elsewhere
	return at, nil
}
