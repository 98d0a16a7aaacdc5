package link

import (
	"math/rand/v2"
	"sync"
	"time"
)

// lines have those who change the ledger of one agent go one after the other: turns, acknowledgements
// and Hellos come at once, and who has lost waits for the watch. Nothing rests on it: another hub writes
// ledgers too.
type lines struct {
	mu sync.Mutex
	by map[string]chan struct{} // with room for who has the line
}

func (l *lines) of(agent string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]chan struct{}{}
	}
	if l.by[agent] == nil {
		l.by[agent] = make(chan struct{}, 1)
	}
	return l.by[agent]
}

func (l *lines) drop(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, agent)
}

// sends is when each agent's unacknowledged documents go out again.
type sends struct {
	mu   sync.Mutex
	next map[string]time.Time
	wait map[string]time.Duration
}

func newSends() *sends {
	return &sends{next: map[string]time.Time{}, wait: map[string]time.Duration{}}
}

// again sends to an agent at once, and forgets how often that was in vain.
func (s *sends) again(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.next, agent)
	delete(s.wait, agent)
}

// The pause between two sends of an unacknowledged document.
const (
	sendPauseMin = 2 * time.Second
	sendPauseMax = time.Minute
)

// due says whether an agent may be sent to now, and plans the next time: 2 s,
// doubling to 60 s, each ± 50 %, so that agents do not come in step.
func (s *sends) due(agent string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.next[agent]) {
		return false
	}
	w := min(max(s.wait[agent]*2, sendPauseMin), sendPauseMax)
	s.wait[agent] = w
	s.next[agent] = now.Add(w/2 + time.Duration(rand.Int64N(int64(w))))
	return true
}
