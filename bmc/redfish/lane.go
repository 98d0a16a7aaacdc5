package redfish

import (
	"context"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// maxWaiting bounds the calls that wait for one BMC; as many urgent ones may
// wait besides.
const maxWaiting = 16

// lane is a queue in front of one BMC: one exchange at a time, body included.
// Urgent calls (hard power) overtake the others, not the one that runs.
type lane struct {
	gauge prometheus.Gauge

	mu     sync.Mutex
	taken  bool
	urgent []chan struct{}
	normal []chan struct{}
}

func newLane(gauge prometheus.Gauge) *lane { return &lane{gauge: gauge} }

// enter waits for the turn; the caller calls the returned function at the end
// of the exchange.
func (l *lane) enter(ctx context.Context, op string, urgent bool) (func(), error) {
	l.mu.Lock()
	if !l.taken {
		l.taken = true
		l.mu.Unlock()
		return l.leave, nil
	}
	queue := &l.normal
	if urgent {
		queue = &l.urgent
	}
	if len(*queue) >= maxWaiting {
		l.mu.Unlock()
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%d calls already wait for this BMC", maxWaiting).
			WithHint("the BMC answers too slowly; nothing was sent to it")
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	l.mu.Unlock()
	l.gauge.Inc()
	defer l.gauge.Dec()
	select {
	case <-turn:
		return l.leave, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(*queue, turn)
	if i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // the turn came at the same moment
		l.leave()
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "gave up waiting for other calls to this BMC: %w", context.Cause(ctx)).
		WithHint("nothing was sent to the BMC")
}

// leave hands the turn on.
func (l *lane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&l.urgent, &l.normal} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = slices.Delete(*queue, 0, 1)
			return
		}
	}
	l.taken = false
}
