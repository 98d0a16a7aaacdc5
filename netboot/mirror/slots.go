package mirror

import (
	"context"
	"sync/atomic"

	"rackboot/protocol"
)

// slots bound the requests under way, and those that wait for it.
type slots struct {
	free    chan struct{}
	waiting atomic.Int64
	queue   int64
}

func newSlots(fetches, queue int) *slots {
	s := &slots{free: make(chan struct{}, fetches), queue: int64(queue)}
	for range fetches {
		s.free <- struct{}{}
	}
	return s
}

// take waits for a place. Errors: unavailable (too many wait), timeout.
func (s *slots) take(ctx context.Context) error {
	const op = "wait to ask the mirror's origin"
	select {
	case <-s.free:
		return nil
	default:
	}
	if s.waiting.Add(1) > s.queue {
		s.waiting.Add(-1)
		return protocol.Errorf(protocol.CodeUnavailable, op, "%d requests wait already", s.queue).
			WithHint("it is tried again; let fewer servers install at once, or allow more fetches")
	}
	defer s.waiting.Add(-1)
	select {
	case <-s.free:
		return nil
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, op, "no place among %d requests: %w", cap(s.free), ctx.Err())
	}
}

func (s *slots) give() { s.free <- struct{}{} }
