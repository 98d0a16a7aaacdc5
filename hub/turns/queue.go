package turns

import (
	"context"
	"sync"
	"time"
)

// Config says what a turn is, and how often a unit may have one.
type Config struct {
	// Do is one turn of a unit. It reads what there is now: a wake says only that something
	// has changed.
	Do func(ctx context.Context, unit string) error
	// Workers is how many turns run at once.
	Workers int
	// Rest is the pause before the next turn of a unit whose last one took so long. Nil is no
	// pause.
	Rest func(unit string, took time.Duration) time.Duration
	// Again is the pause before the turn of a unit that failed n times in a row is made again.
	Again func(unit string, err error, n int) time.Duration
	// Done is called after each turn; nil is not.
	Done func(unit string, took time.Duration, err error)
}

// Queue has the units that wait for a turn, in the order in which they were woken. It is
// bounded by the number of units. All methods are safe for concurrent use.
type Queue struct {
	cfg   Config
	ready chan struct{} // has room for one: a worker looks again

	mu    sync.Mutex
	line  []string
	units map[string]*unit // that wait, run, rest or have failed
}

// unit is where one is. At most one of inLine, running and resting is so.
type unit struct {
	inLine, running, resting bool
	dirty                    bool // woken while it runs or rests
	failed                   int  // times in a row
}

// New returns a queue without units. Run works through it.
func New(cfg Config) *Queue {
	return &Queue{cfg: cfg, ready: make(chan struct{}, 1), units: map[string]*unit{}}
}

// Wake has each unit take a turn that begins after this call. It does not wait.
func (q *Queue) Wake(units ...string) {
	q.mu.Lock()
	for _, name := range units {
		u := q.of(name)
		switch {
		case u.inLine:
		case u.running || u.resting:
			u.dirty = true
		default:
			q.enter(name, u)
		}
	}
	q.mu.Unlock()
	q.tell()
}

// Waiting returns how many units are to have a turn and are not having it.
func (q *Queue) Waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, u := range q.units {
		if u.inLine || u.dirty {
			n++
		}
	}
	return n
}

// Take returns the units that stand in line, in order, and forgets them: for callers that take the
// turns themselves and do not Run the queue.
func (q *Queue) Take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.line
	q.line, q.units = nil, map[string]*unit{}
	return line
}

// Run takes turns until ctx ends, and returns when the last of them has.
func (q *Queue) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range max(1, q.cfg.Workers) {
		workers.Go(func() { q.work(ctx) })
	}
	workers.Wait()
}

func (q *Queue) work(ctx context.Context) {
	for {
		name, ok := q.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-q.ready:
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		err := q.cfg.Do(ctx, name)
		if ctx.Err() != nil {
			return // what it says of an end that was wanted is no news
		}
		q.ended(name, time.Since(begun), err)
	}
}

// next takes the unit that waits longest.
func (q *Queue) next() (name string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.line) == 0 {
		return "", false
	}
	name = q.line[0]
	q.line = q.line[1:]
	u := q.units[name]
	u.inLine, u.running = false, true
	if len(q.line) > 0 {
		q.tell() // for another worker
	}
	return name, true
}

// ended has the unit rest, if it is to, and then stand in line where it was woken meanwhile or
// has failed.
func (q *Queue) ended(name string, took time.Duration, err error) {
	q.mu.Lock()
	u := q.units[name]
	u.running = false
	var pause time.Duration
	if q.cfg.Rest != nil {
		pause = q.cfg.Rest(name, took)
	}
	if u.failed++; err == nil {
		u.failed = 0
	} else {
		u.dirty = true
		pause = max(pause, q.cfg.Again(name, err, u.failed))
	}
	u.resting = pause > 0
	if !u.resting {
		q.rested(name, u)
	}
	q.mu.Unlock()
	if pause > 0 {
		time.AfterFunc(pause, func() {
			q.mu.Lock()
			u.resting = false
			q.rested(name, u)
			q.mu.Unlock()
			q.tell()
		})
	}
	q.tell()
	if q.cfg.Done != nil {
		q.cfg.Done(name, took, err)
	}
}

// rested needs q.mu.
func (q *Queue) rested(name string, u *unit) {
	switch {
	case u.dirty:
		u.dirty = false
		q.enter(name, u)
	case u.failed == 0:
		delete(q.units, name)
	}
}

// enter needs q.mu.
func (q *Queue) enter(name string, u *unit) {
	u.inLine = true
	q.line = append(q.line, name)
}

// of needs q.mu.
func (q *Queue) of(name string) *unit {
	u := q.units[name]
	if u == nil {
		u = &unit{}
		q.units[name] = u
	}
	return u
}

func (q *Queue) tell() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
