package mirror

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// side is a reader's own request, for bytes that are far from what has arrived. It is
// kept for what is read next; after Config.Idle without a read it is given up, with its
// place among the requests.
type side struct {
	flight *flight
	ctx    context.Context

	closed atomic.Bool
	mu     sync.Mutex
	body   io.ReadCloser
	pos    int64
	timer  *time.Timer
}

// close gives it up for good; the first says so.
func (s *side) close() bool {
	first := s.closed.CompareAndSwap(false, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	return first
}

// overtaken gives it up where the fetch has come further. It waits for no reader.
func (s *side) overtaken(arrived int64) {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if s.pos <= arrived {
		s.end()
	}
}

// end gives it up until it is needed again. The lock is held.
func (s *side) end() {
	if s.body == nil {
		return
	}
	s.timer.Stop()
	_ = s.body.Close() // nothing more is wanted of it
	s.body = nil
	s.flight.m.slots.give()
}

// read reads from a position: all of b if full is set, else what comes first. A body
// that broke off is asked for once more.
func (s *side) read(b []byte, off int64, full bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := 0
	for again := false; ; again = true {
		if err := s.begin(off + int64(got)); err != nil {
			return got, err
		}
		var n int
		var err error
		if full {
			n, err = io.ReadFull(s.body, b[got:])
		} else {
			n, err = s.body.Read(b[got:])
		}
		s.pos += int64(n)
		got += n
		s.flight.m.metrics.bytes.Add(float64(n))
		if got == len(b) || got > 0 && !full {
			return got, nil
		}
		if err != nil {
			s.end()
			if again || s.ctx.Err() != nil {
				return got, s.flight.broke(err)
			}
		}
	}
}

// begin has a body at a position. The lock is held.
func (s *side) begin(at int64) error {
	if s.closed.Load() {
		return fs.ErrClosed
	}
	if s.body != nil && s.pos == at {
		s.timer.Reset(s.flight.m.cfg.Idle)
		return nil
	}
	s.end()
	m := s.flight.m
	ctx, cancel := context.WithTimeout(s.ctx, m.cfg.Wait)
	defer cancel()
	if err := m.slots.take(ctx); err != nil {
		return err
	}
	body, err := s.flight.from(s.ctx, at)
	if err != nil {
		m.slots.give()
		if errors.Is(err, errNoRange) || errors.Is(err, errChanged) {
			return err
		}
		return s.flight.broke(err)
	}
	s.body, s.pos = body, at
	s.timer = time.AfterFunc(m.cfg.Idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.body == body {
			s.end()
		}
	})
	return nil
}
