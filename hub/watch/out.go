package watch

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	protoapi "rackboot/protocol/api"
)

// out gathers lines, and writes many at once.
type out struct {
	ctx   context.Context
	write func(lines [][]byte) error
	lines *prometheus.CounterVec

	pending [][]byte
	wrote   time.Time // when something was written last
	slow    bool      // it took too long
	err     error
}

// put takes a line, and writes when there are enough. It reports whether to go on.
func (o *out) put(word protoapi.WatchWord, line []byte) bool {
	o.lines.WithLabelValues(string(word)).Inc()
	o.pending = append(o.pending, line)
	return len(o.pending) < batch || o.flush()
}

// flush writes what was put.
func (o *out) flush() bool {
	if len(o.pending) == 0 {
		return o.ctx.Err() == nil
	}
	began := time.Now()
	o.err = o.write(o.pending)
	o.wrote = time.Now()
	clear(o.pending) // what was written is let go of
	o.pending = o.pending[:0]
	o.slow = o.wrote.Sub(began) > slowAfter
	return o.err == nil && !o.slow && o.ctx.Err() == nil
}

// end writes why the watch ends.
func (o *out) end(err error) {
	if o.put(protoapi.WatchEnd, lineOf(protoapi.WatchEvent{Type: protoapi.WatchEnd, Problem: protoapi.ProblemOf(err)})) {
		o.flush()
	}
}
