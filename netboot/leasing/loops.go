package leasing

import (
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	// MaxOffers is how many exchanges may be offered the same boot within loopWindow.
	// Firmware that walks its boot order asks a few times; a loader that loads itself asks
	// every few seconds.
	MaxOffers  = 8
	loopWindow = 10 * time.Minute
	loopMax    = 4096 // boots; the oldest goes first
)

// boot is what is offered to whom.
type boot struct {
	client string // what the server knows it by
	class  protocol.ClientClass
	token  string
	file   string
}

type loopEntry struct {
	exchanges int
	until     time.Time
}

// loops counts equal offers. It is safe for concurrent use, and its size is bounded.
// Entries live equally long from their first offer, so that the order of insertion is
// the order of expiry.
type loops struct {
	mu      sync.Mutex
	entries map[boot]*loopEntry
	order   []boot
}

// newLoops makes one that has counted nothing.
func newLoops() *loops { return &loops{entries: make(map[boot]*loopEntry)} }

// count adds exchanges, 0 or 1, and returns how many there were in the window. What
// follows within an exchange adds none. More than MaxOffers are a loop.
func (l *loops) count(b boot, more int, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[b]; ok && now.Before(e.until) {
		e.exchanges += more
		return e.exchanges
	}
	if more == 0 {
		return 0
	}
	for len(l.order) > 0 && (len(l.order) >= loopMax || !now.Before(l.entries[l.order[0]].until)) {
		delete(l.entries, l.order[0])
		l.order = l.order[1:]
	}
	l.entries[b] = &loopEntry{exchanges: more, until: now.Add(loopWindow)}
	l.order = append(l.order, b)
	return more
}
