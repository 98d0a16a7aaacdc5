package metrics

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"rackboot/protocol"
)

// Registry takes metrics and gives them out, such as [prometheus.Registry].
type Registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Serve opens GET /metrics on addr and serves it in group until ctx ends. A busy
// address is an unavailable error.
func Serve(ctx context.Context, group *errgroup.Group, addr string, reg Registry, log *slog.Logger) error {
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open the metrics page", "%w", err).WithHint("change metrics in the daemon's file")
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	srv := &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	group.Go(func() error {
		<-ctx.Done()
		return srv.Close()
	})
	group.Go(func() error {
		if err := srv.Serve(ln); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	return nil
}
