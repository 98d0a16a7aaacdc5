package redfish

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/protocol"
)

// lane is the queue in front of one BMC: one exchange at a time, body
// included, and at most maxWaiting that wait. It also remembers credentials
// that the BMC refused. It is shared by all systems of the BMC.
type lane struct {
	users   int // guarded by Dialer.mu
	turn    chan struct{}
	waiting chan struct{}
	gauge   prometheus.Gauge

	mu      sync.Mutex
	refused bmc.Credentials
	until   time.Time
}

func newLane(gauge prometheus.Gauge) *lane {
	return &lane{turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting), gauge: gauge}
}

// enter waits for the turn; the caller calls the returned function at the end
// of the exchange.
func (l *lane) enter(ctx context.Context, op string) (func(), error) {
	select {
	case l.waiting <- struct{}{}:
	default:
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%d calls already wait for this BMC", maxWaiting).
			WithHint("the BMC answers too slowly; nothing was sent to it")
	}
	l.gauge.Inc()
	defer func() { l.gauge.Dec(); <-l.waiting }()
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn }, nil
	case <-ctx.Done():
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "gave up waiting for other calls to this BMC: %w", context.Cause(ctx)).
			WithHint("nothing was sent to the BMC")
	}
}

// refuse remembers that the BMC refused the credentials.
func (l *lane) refuse(c bmc.Credentials, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused, l.until = c, until
}

// refusal says how long the credentials must not be tried; 0 if they may be.
func (l *lane) refusal(c bmc.Credentials, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != c {
		return 0
	}
	return max(0, l.until.Sub(now))
}
