package api

import (
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/protocol"
	"rackboot/state"
)

// throttle bounds what one remote address may ask of a route that needs no token. It
// is safe for concurrent use.
type throttle struct {
	clock   state.Clock
	rate    rate.Limit
	burst   int
	refused prometheus.Counter

	mu sync.Mutex
	by map[netip.Prefix]*guest
}

// guest is one remote address. Of IPv6 it is a network of 64 bits: whoever has one
// address there has all.
type guest struct {
	limit *rate.Limiter
	last  time.Time
}

// maxGuests bounds the addresses that are remembered. The one that was quiet longest
// is forgotten first.
const maxGuests = 4096

// A token has 192 bits: nobody guesses one at any rate. The limit keeps strangers from
// the hub's disk and processor. Agents behind one address renew at once after an outage.
const (
	joinEvery, joinBurst   = 2 * time.Second, 10
	renewEvery, renewBurst = 20 * time.Millisecond, 500
	pullEvery, pullBurst   = 50 * time.Millisecond, 200
)

// newThrottled counts what strangers asked too often.
func newThrottled(r prometheus.Registerer) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_hub_join_throttled_total", Help: "Requests to join or renew that were refused because there were too many from their address.",
	})
	r.MustRegister(c)
	return c
}

func newThrottle(clock state.Clock, every time.Duration, burst int, refused prometheus.Counter) *throttle {
	return &throttle{clock: clock, rate: rate.Every(every), burst: burst, refused: refused, by: map[netip.Prefix]*guest{}}
}

// admit says why a request from the address, host:port, is not looked at. The code is
// unavailable.
func (t *throttle) admit(remote string) error {
	now := t.clock()
	t.mu.Lock()
	g := t.guest(placeOf(remote), now)
	ok := g.limit.AllowN(now, 1)
	t.mu.Unlock()
	if ok {
		return nil
	}
	t.refused.Inc()
	return protocol.Errorf(protocol.CodeUnavailable, "admit", "too many requests from this address").
		WithHint("wait a minute, then try again")
}

// guest needs t.mu.
func (t *throttle) guest(at netip.Prefix, now time.Time) *guest {
	g := t.by[at]
	if g == nil {
		if len(t.by) >= maxGuests {
			t.forget()
		}
		g = &guest{limit: rate.NewLimiter(t.rate, t.burst)}
		t.by[at] = g
	}
	g.last = now
	return g
}

func (t *throttle) forget() {
	var oldest netip.Prefix
	for at, g := range t.by {
		if !oldest.IsValid() || g.last.Before(t.by[oldest].last) {
			oldest = at
		}
	}
	delete(t.by, oldest)
}

// placeOf is what an address counts as; all that are none count as one.
func placeOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // fits every address
	return p
}
