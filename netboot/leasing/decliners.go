package leasing

import (
	"sync"
	"time"
)

const (
	// A client may decline declinesOfOne addresses at once, and one each declineOfOneEvery: it
	// may meet as many that are in use.
	declinesOfOne     = 3
	declineOfOneEvery = 5 * time.Minute
	// All clients of a segment together may decline declinesOfAll at once, and one each
	// declineOfAllEvery: who can send from any address has the budgets of all.
	declinesOfAll     = 16
	declineOfAllEvery = time.Minute
	// maxDecliners bounds the clients whose budgets are remembered.
	maxDecliners = 1024
)

// bucket is a budget that fills up again by one each every.
type bucket struct {
	used float64
	at   time.Time
}

// level lets the bucket fill up until now.
func (b *bucket) level(every time.Duration, now time.Time) {
	b.used = max(0, b.used-max(0, now.Sub(b.at).Seconds())/every.Seconds())
	b.at = now
}

// Decliners are the budgets of clients that decline addresses. It is safe for concurrent use.
type Decliners struct {
	mu  sync.Mutex
	all bucket
	by  map[string]*bucket
}

// NewDecliners returns full budgets.
func NewDecliners() *Decliners { return &Decliners{by: make(map[string]*bucket)} }

// Allow reports whether one more DECLINE of the client is heeded, and counts it if so.
func (d *Decliners) Allow(client string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all.level(declineOfAllEvery, now)
	b := d.by[client]
	if b == nil {
		if len(d.by) >= maxDecliners {
			for m, o := range d.by {
				if o.level(declineOfOneEvery, now); o.used == 0 {
					delete(d.by, m)
				}
			}
		}
		if len(d.by) >= maxDecliners {
			return false
		}
		b = &bucket{at: now}
		d.by[client] = b
	}
	b.level(declineOfOneEvery, now)
	if b.used > declinesOfOne-1 || d.all.used > declinesOfAll-1 {
		return false
	}
	b.used, d.all.used = b.used+1, d.all.used+1
	return true
}
