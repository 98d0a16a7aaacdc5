package tftp

import (
	"net/netip"
	"time"
)

// maxBuckets is how many clients are remembered, twice. One that is forgotten
// begins with a full bucket; for that it takes this many other addresses.
const maxBuckets = 4096

// bucket holds the requests that a client may still make, as of a time.
type bucket struct {
	tokens float64
	at     time.Time
}

// buckets limit the requests of each client address. They are not safe for
// concurrent use: the reader alone asks them.
type buckets struct {
	rate     float64 // tokens a second
	burst    float64
	now, old map[netip.Addr]bucket
}

func newBuckets(rate, burst int) *buckets {
	return &buckets{rate: float64(rate), burst: float64(burst), now: make(map[netip.Addr]bucket)}
}

// take takes a token of the client, if there is one.
func (b *buckets) take(client netip.Addr, at time.Time) bool {
	t, ok := b.now[client]
	if !ok {
		if t, ok = b.old[client]; !ok {
			t = bucket{tokens: b.burst, at: at}
		}
		if len(b.now) >= maxBuckets { // two generations: memory is bounded, and nothing is searched
			b.old, b.now = b.now, make(map[netip.Addr]bucket)
		}
	}
	t.tokens = min(b.burst, t.tokens+b.rate*max(0, at.Sub(t.at).Seconds()))
	t.at = at
	taken := t.tokens >= 1
	if taken {
		t.tokens--
	}
	b.now[client] = t
	return taken
}
