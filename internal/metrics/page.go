package metrics

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"rackboot/internal/conns"
	"rackboot/protocol"
)

// Limits of the page. Whoever reaches it may read it.
const (
	maxConns     = 64
	maxSource    = 16 // of them from one address
	maxHeader    = 16 << 10
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = time.Minute
)

// Registry takes metrics and gives them out, such as [prometheus.Registry].
type Registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Ready says why the daemon cannot do its work; nil if it can. It is asked by each GET
// /readyz, at once with others, and bounds its own cost.
type Ready func(ctx context.Context) error

// Beside is a page that a daemon has on the same listener; it answers GET.
type Beside struct {
	Path  string
	Serve http.HandlerFunc
}

// Serve opens the page on addr and serves it in group until ctx ends, with those beside it. A busy address is
// an unavailable error.
func Serve(ctx context.Context, group *errgroup.Group, addr string, reg Registry, ready Ready, log *slog.Logger, beside ...Beside) error {
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open the metrics page", "%w", err).WithHint("change metrics in the daemon's file")
	}
	group.Go(func() error { return ServeOn(ctx, ln, reg, ready, log, beside...) })
	return nil
}

// ServeOn serves GET /metrics, /healthz, /readyz and what is beside them on a listener, which it closes, until
// ctx ends.
func ServeOn(ctx context.Context, ln net.Listener, reg Registry, ready Ready, log *slog.Logger, beside ...Beside) error {
	refused := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_metrics_connections_refused_total", Help: "Connections to the metrics page that were closed because there were too many.",
	})
	reg.MustRegister(refused)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { status(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if ready(r.Context()) != nil { // what it is may tell of the inside; the log has it
			status(w, http.StatusServiceUnavailable, "not ready: see the log")
			return
		}
		status(w, http.StatusOK, "ok")
	})
	for _, b := range beside {
		mux.HandleFunc("GET "+b.Path, b.Serve)
	}
	srv := &http.Server{
		Handler: mux, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	err := srv.Serve(conns.Limit(ln, conns.Config{Total: maxConns, PerSource: maxSource, Refused: refused.Inc}))
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}

func status(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, `{"status":"`+text+`"}`+"\n") // else the client is gone
}
