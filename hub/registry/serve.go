package registry

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/internal/conns"
	"rackboot/protocol"
)

// The bounds of the listener.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// Of a request, and of its answer; bodies that are sent and blobs that are read extend
	// them with each piece.
	readTimeout     = time.Minute
	writeTimeout    = time.Minute
	shutdownTimeout = 10 * time.Second
	maxHeader       = 32 << 10
	maxConns        = 256
	maxSourceConns  = 64
)

type metrics struct {
	refused, connRefused, full, late, removed prometheus.Counter
	received                                  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, r *Registry) metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_registry_" + name, Help: help})
	}
	m := metrics{
		refused:     counter("refused_total", "Requests to the hub's registry by who may not make them."),
		connRefused: counter("connections_refused_total", "Connections to the hub's registry that were closed because there were too many."),
		full:        counter("full_total", "Pushes to the hub's registry that had no room."),
		late:        counter("late_total", "Pulls from the hub's registry that were to come again, since the hub had not fetched the blob yet."),
		removed:     counter("removed_total", "Blobs of the hub's registry that were removed because no manifest names them."),
		received:    counter("received_bytes_total", "Bytes of blobs that were pushed to the hub's registry."),
	}
	if reg != nil {
		reg.MustRegister(m.refused, m.connRefused, m.full, m.late, m.removed, m.received, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rackboot_hub_registry_bytes", Help: "Bytes of everything in the hub's registry.",
		}, func() float64 { return float64(r.bytes()) }))
	}
	return m
}

func (r *Registry) bytes() (n int64) {
	for _, digest := range r.blobs.Digests() {
		size, _ := r.blobs.Size(digest)
		n += size
	}
	return n
}

// Serve serves HTTPS on ln until ctx ends, then waits up to 10 s for open requests. It closes
// ln. The error is nil after an ordinary end.
func (r *Registry) Serve(ctx context.Context, ln net.Listener, conf *tls.Config) error {
	srv := &http.Server{
		Handler: r, TLSConfig: conf, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(r.cfg.Logger.Handler(), slog.LevelDebug),
	}
	bounds := conns.Config{Total: maxConns, PerSource: maxSourceConns, Refused: r.metrics.connRefused.Inc}
	if err := conns.ServeTLS(ctx, srv, ln, bounds, shutdownTimeout); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "serve the registry", "%w", err)
	}
	return nil
}
