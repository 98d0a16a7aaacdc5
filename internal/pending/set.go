package pending

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Config says what is to be done, and how patiently.
type Config[K comparable] struct {
	// Do does one thing. It is called from Run only, and never twice at once in a lane.
	Do func(ctx context.Context, key K) error
	// Tried is called after each call of Do, when State knows what came of it.
	Tried func(key K)
	// Lane names what a thing is asked of. What is asked of one is done one after the other, the
	// oldest first, and no other lane waits for it. Nil is one lane for all.
	Lane func(key K) string
	// Lanes bounds those that are done at once; 0 is 1.
	Lanes int
	// Away says of an error that the lane is away, and not that the thing is wrong: then the
	// whole lane pauses. Nil is of none.
	Away func(err error) bool
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

	mu    sync.Mutex
	jobs  map[K]*job[K]
	lanes map[string]*lane[K] // of jobs that there are
	busy  int                 // lanes
	added uint64
}

// New makes an empty set.
func New[K comparable](cfg Config[K]) *Set[K] {
	if cfg.Lane == nil {
		cfg.Lane = func(K) string { return "" }
	}
	if cfg.Away == nil {
		cfg.Away = func(error) bool { return false }
	}
	return &Set[K]{cfg: cfg, poked: make(chan struct{}, 1), jobs: map[K]*job[K]{}, lanes: map[string]*lane[K]{}}
}

// Add asks for a thing to be done, if it was not asked for before. It does not
// wait.
func (s *Set[K]) Add(key K) {
	s.mu.Lock()
	_, known := s.jobs[key]
	if !known {
		s.added++
		j := &job[K]{key: key, seq: s.added, since: s.cfg.Clock()}
		s.jobs[key] = j
		name := s.cfg.Lane(key)
		if s.lanes[name] == nil {
			s.lanes[name] = &lane[K]{}
		}
		s.lanes[name].jobs++
		heap.Push(&s.lanes[name].line, j)
	}
	s.mu.Unlock()
	if !known {
		s.poke()
	}
}

// poke has Run look again.
func (s *Set[K]) poke() {
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// State is whether the thing is done, and why it was not the last time. What was never tried because
// its lane is away has a [BehindError].
func (s *Set[K]) State(key K) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key]
	if j == nil {
		return false, nil
	}
	if l := s.lanes[s.cfg.Lane(key)]; !j.done && j.err == nil && l != nil && l.err != nil {
		return false, &BehindError{s.cfg.Lane(key), l.err}
	}
	return j.done, j.err
}

// BehindError is why a thing was not tried yet: what it is asked of does not answer.
type BehindError struct {
	Lane string
	Err  error // of the last thing that was asked of it
}

// Error implements error.
func (e *BehindError) Error() string { return e.Lane + " does not answer: " + e.Err.Error() }

// Unwrap returns the lane's error.
func (e *BehindError) Unwrap() error { return e.Err }

// Waiting is what waits in a lane.
type Waiting struct {
	Open  int       // things that are not done
	Since time.Time // when the oldest of them came
	Away  bool      // the lane is, and pauses
	Until time.Time // when it is tried again, if it is away
}

// Waiting are the lanes in which something is not done.
func (s *Set[K]) Waiting() map[string]Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Waiting{}
	for k, j := range s.jobs {
		if j.done {
			continue
		}
		name := s.cfg.Lane(k)
		w := out[name]
		if w.Open++; w.Since.IsZero() || j.since.Before(w.Since) {
			w.Since = j.since
		}
		if l := s.lanes[name]; l != nil && l.err != nil {
			w.Away, w.Until = true, l.next
		}
		out[name] = w
	}
	return out
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
	for k := range s.jobs {
		if !keep(k) {
			s.forget(k)
		}
	}
}

// Drop forgets one thing, as Keep does.
func (s *Set[K]) Drop(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[key] != nil {
		s.forget(key)
	}
}

// forget forgets a thing that there is; it needs s.mu.
func (s *Set[K]) forget(key K) {
	j := s.jobs[key]
	delete(s.jobs, key)
	name := s.cfg.Lane(key)
	if l := s.lanes[name]; l != nil {
		l.line.remove(j)
		l.jobs--
		s.leave(name, l)
	}
}

// leave forgets a lane of which nothing is asked any more; it needs s.mu.
func (s *Set[K]) leave(name string, l *lane[K]) {
	if l.jobs == 0 && !l.busy {
		delete(s.lanes, name)
	}
}

// Run does what is due until ctx ends, and returns when all that it has begun has ended.
func (s *Set[K]) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var begun sync.WaitGroup
	defer begun.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.poked:
		}
		timer.Reset(s.begin(ctx, &begun))
	}
}

// begin begins what is due, as far as there are lanes for it, and returns how long until
// something is. What ends looks again.
func (s *Set[K]) begin(ctx context.Context, begun *sync.WaitGroup) time.Duration {
	for {
		if ctx.Err() != nil {
			return s.cfg.MaxPause
		}
		key, wait, due := s.due(max(1, s.cfg.Lanes))
		if !due {
			return wait
		}
		begun.Go(func() {
			s.do(ctx, key)
			s.poke()
		})
	}
}

// Work does what is due now, one after the other, and returns how long until something is. It is for
// callers that do not Run it; the two are not called at once.
func (s *Set[K]) Work(ctx context.Context) time.Duration {
	for {
		if ctx.Err() != nil {
			return s.cfg.MaxPause
		}
		key, wait, due := s.due(1)
		if !due {
			return wait
		}
		s.do(ctx, key)
	}
}

// due takes a thing to do now, whose lane is busy from here on, or says how long until there is one. What has been
// due for longest comes first: what was never tried, in the order in which it came, then what was.
func (s *Set[K]) due(lanes int) (key K, wait time.Duration, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock()
	wait = s.cfg.MaxPause
	if s.busy >= lanes {
		return key, wait, false
	}
	var first *job[K]
	for _, l := range s.lanes {
		if l.busy || len(l.line) == 0 {
			continue
		}
		j := l.line[0]
		switch at := later(j.next, l.next); {
		case now.Before(at):
			wait = min(wait, at.Sub(now))
		case first == nil || j.before(first):
			first = j
		}
	}
	if first == nil {
		return key, wait, false
	}
	s.busy++
	s.lanes[s.cfg.Lane(first.key)].busy = true
	return first.key, 0, true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// do does a thing, tells whoever wants to know, and only then frees its lane.
func (s *Set[K]) do(ctx context.Context, key K) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	s.came(key, s.cfg.Do(ctx, key))
	s.cfg.Tried(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.cfg.Lane(key)
	l := s.lanes[name]
	l.busy = false
	s.busy--
	s.leave(name, l)
}

// came notes what came of a thing.
func (s *Set[K]) came(key K, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, l := s.cfg.Clock(), s.lanes[s.cfg.Lane(key)]
	if away := err != nil && s.cfg.Away(err); away {
		l.err, l.pause = err, s.longer(l.pause)
		l.next = now.Add(l.pause)
	} else {
		l.err, l.pause, l.next = nil, 0, time.Time{}
	}
	if j := s.jobs[key]; j != nil { // else it was dropped meanwhile
		if j.done, j.err = err == nil, err; j.done {
			l.line.remove(j)
			return
		}
		j.pause = s.longer(j.pause)
		j.next = later(now.Add(j.pause), l.next)
		heap.Fix(&l.line, j.at)
	}
}

// longer is the pause after one.
func (s *Set[K]) longer(pause time.Duration) time.Duration {
	return min(max(pause*2, s.cfg.MinPause), s.cfg.MaxPause)
}
