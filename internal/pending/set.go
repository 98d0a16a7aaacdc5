package pending

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Config says what is to be done, and how patiently.
type Config[K comparable] struct {
	// Do does one thing. It is called from Run only, never twice at once.
	Do func(ctx context.Context, key K) error
	// Tried is called after each call of Do, when State knows what came of it.
	Tried func(key K)
	// Timeout bounds one call of Do.
	Timeout time.Duration
	// The pause after a failure begins at MinPause and doubles up to MaxPause.
	MinPause, MaxPause time.Duration
	Clock              func() time.Time
}

// Set is the things to do. Its owner bounds it by what it adds and keeps. All
// methods but Run and Work are safe for concurrent use.
type Set[K comparable] struct {
	cfg   Config[K]
	poked chan struct{}

	mu   sync.Mutex
	jobs map[K]*job
}

type job struct {
	done  bool
	err   error
	pause time.Duration
	next  time.Time
}

// New makes an empty set.
func New[K comparable](cfg Config[K]) *Set[K] {
	return &Set[K]{cfg: cfg, poked: make(chan struct{}, 1), jobs: map[K]*job{}}
}

// Add asks for a thing to be done, if it was not asked for before. It does not
// wait.
func (s *Set[K]) Add(key K) {
	s.mu.Lock()
	_, known := s.jobs[key]
	if !known {
		s.jobs[key] = &job{}
	}
	s.mu.Unlock()
	if known {
		return
	}
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// State is whether the thing is done, and why it was not the last time.
func (s *Set[K]) State(key K) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key]
	if j == nil {
		return false, nil
	}
	return j.done, j.err
}

// Open is how many things were asked for and are not done.
func (s *Set[K]) Open() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if !j.done {
			n++
		}
	}
	return n
}

// Keep forgets every thing that keep does not want. One that is being done is done
// to its end, and then forgotten.
func (s *Set[K]) Keep(keep func(K) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.jobs, func(k K, _ *job) bool { return !keep(k) })
}

// Drop forgets one thing, as Keep does.
func (s *Set[K]) Drop(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, key)
}

// Run does what is due until ctx ends.
func (s *Set[K]) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.poked:
		}
		timer.Reset(s.Work(ctx))
	}
}

// Work does what is due now, and returns how long until something is. It is what
// Run does each time; the two are not called at once.
func (s *Set[K]) Work(ctx context.Context) time.Duration {
	for {
		key, wait, due := s.due()
		if !due || ctx.Err() != nil {
			return wait
		}
		s.do(ctx, key)
		s.cfg.Tried(key)
	}
}

// due is a thing to do now, or how long until there is one.
func (s *Set[K]) due() (key K, wait time.Duration, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock()
	wait = s.cfg.MaxPause
	for k, j := range s.jobs {
		switch {
		case j.done:
		case !now.Before(j.next):
			return k, 0, true
		default:
			wait = min(wait, j.next.Sub(now))
		}
	}
	return key, wait, false
}

func (s *Set[K]) do(ctx context.Context, key K) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	err := s.cfg.Do(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key]
	if j == nil {
		return // dropped meanwhile
	}
	j.done, j.err = err == nil, err
	if err != nil {
		j.pause = min(max(j.pause*2, s.cfg.MinPause), s.cfg.MaxPause)
		j.next = s.cfg.Clock().Add(j.pause)
	}
}
