package ready_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/ready"
)

func check(t *testing.T, probe func(context.Context) error, log *slog.Logger) *ready.Check {
	t.Helper()
	c, err := ready.New(ready.Config{Probe: probe, Logger: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A thousand that ask at once are answered by one probe, and those within a second by the
// same one.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes, running, most atomic.Int32
		c := check(t, func(context.Context) error {
			probes.Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(500 * time.Millisecond)
			return nil
		}, slog.New(slog.DiscardHandler))
		for _, row := range []struct {
			after time.Duration
			want  int32
		}{{0, 1}, {900 * time.Millisecond, 1}, {200 * time.Millisecond, 2}} {
			time.Sleep(row.after)
			var all sync.WaitGroup
			for range 1000 {
				all.Go(func() {
					if err := c.Ready(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if n := probes.Load(); n != row.want || most.Load() != 1 {
				t.Errorf("%d probes, %d at a time; want %d and 1", n, most.Load(), row.want)
			}
		}
	})
}

// A probe that hangs holds nobody up, is not begun again beside itself, and what it
// finds counts once it has ended.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int32
		release := make(chan struct{})
		log := new(strings.Builder)
		c := check(t, func(context.Context) error { // heeds no context
			probes.Add(1)
			<-release
			return nil
		}, slog.New(slog.NewTextHandler(log, nil)))
		began := time.Now()
		for range 3 {
			if err := c.Ready(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
				t.Errorf("%v", err)
			}
		}
		if took := time.Since(began); took != ready.Within {
			t.Errorf("three took %s, want %s: the later ones know at once", took, ready.Within)
		}
		if probes.Load() != 1 {
			t.Errorf("%d probes", probes.Load())
		}
		close(release)
		synctest.Wait()
		if err := c.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The probe is told its deadline; the log has each change once.
func TestFailsAndHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := protocol.Errorf(protocol.CodeUnavailable, "write", "disk full").WithHint("free space")
		var answer error
		var within time.Duration
		log := new(strings.Builder)
		c := check(t, func(ctx context.Context) error {
			at, _ := ctx.Deadline()
			within = time.Until(at)
			return answer
		}, slog.New(slog.NewTextHandler(log, nil)))
		for _, answer = range []error{nil, full, full, nil, nil, full} {
			if err := c.Ready(t.Context()); !errors.Is(err, answer) {
				t.Errorf("%v, want %v", err, answer)
			}
			time.Sleep(ready.Fresh)
		}
		if within != ready.Within {
			t.Errorf("the probe has %s", within)
		}
		synctest.Wait() // what a probe logs comes after its answer
		if n := strings.Count(log.String(), "not ready"); n != 2 || strings.Count(log.String(), "ready again") != 1 {
			t.Errorf("the log:\n%s", log)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Ready(ctx); err != nil && protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Error(err)
		}
	})
}
