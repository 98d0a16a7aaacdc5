package metrics_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/internal/metrics"
)

// A daemon that cannot do its work lives: only /readyz says so, without what is wrong.
func TestHealth(t *testing.T) {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- metrics.ServeOn(ctx, ln, prometheus.NewRegistry(), func(context.Context) error {
			if broken.Load() {
				return errors.New("inner /var/lib/secret")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
	}()
	for _, row := range []struct {
		broken         bool
		lives, isReady int
	}{{false, 200, 200}, {true, 200, 503}, {false, 200, 200}} {
		broken.Store(row.broken)
		for path, want := range map[string]int{"/healthz": row.lives, "/readyz": row.isReady, "/metrics": 200} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(a.Body)
			_ = a.Body.Close()
			if err != nil || a.StatusCode != want || strings.Contains(string(body), "secret") {
				t.Errorf("broken %v: %s is %d %q, want %d; %v", row.broken, path, a.StatusCode, body, want, err)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
