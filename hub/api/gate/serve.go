package gate

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"rackboot/internal/conns"
	"rackboot/protocol"
)

// shutdownTimeout is how long Serve waits for open requests at the end.
const shutdownTimeout = 10 * time.Second

// Serve serves HTTPS on ln until ctx ends, then waits up to 10 s for open
// requests. It closes ln. The error is nil after an ordinary end.
func (g *Gate) Serve(ctx context.Context, ln net.Listener, conf *tls.Config) error {
	return g.ServeBehind(ctx, ln, conf, g)
}

// ServeBehind is [Gate.Serve] with a handler before the gate, which passes on what is not its own.
func (g *Gate) ServeBehind(ctx context.Context, ln net.Listener, conf *tls.Config, front http.Handler) error {
	if conf == nil {
		ln.Close()
		return protocol.Errorf(protocol.CodeInvalid, "serve api", "a TLS configuration is required")
	}
	srv := &http.Server{
		Handler:           front,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         conf,
		ErrorLog:          slog.NewLogLogger(g.logger.Handler(), slog.LevelDebug),
	}
	bounds := conns.Config{Total: maxConns, PerSource: maxSourceConns, Refused: g.metrics.connRefused.Inc}
	if err := conns.ServeTLS(ctx, srv, ln, bounds, shutdownTimeout); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "serve api", "%w", err)
	}
	return nil
}
