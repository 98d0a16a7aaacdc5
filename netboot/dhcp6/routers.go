package dhcp6

import (
	"net/netip"
	"sync"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	// routerTries solicitations, routerInterval apart, are what a host sends (RFC 4861
	// section 10): the first is lost on a link that just came up.
	routerTries    = 3
	routerInterval = 4 * time.Second
	// routerWait is how long routers have to answer: about as long as EDK2 waits.
	routerWait = routerTries * routerInterval
	// routerCheck is the time between two checks.
	routerCheck = 5 * time.Minute
	// routerRetry is the pause after a solicitation that the host could not send.
	routerRetry = time.Second
	// routerMemory is how long an advertisement counts: it was asked for in each check.
	routerMemory = 3 * routerCheck
	// noticeAgain is how long what was told is not told again.
	noticeAgain = time.Hour
	routersMax  = 16 // sources can be forged, and the table must not grow
	advertSize  = 1500
)

// adverts is where router advertisements come from.
type adverts interface {
	// Read reads an ICMPv6 message, its source and its hop limit.
	Read(b []byte) (n int, from netip.Addr, hops int, err error)
	// Solicit asks all routers of the link for an advertisement.
	Solicit() error
	Close() error
}

type router struct {
	advert
	addr netip.Addr
	at   time.Time
}

// routers are those that were heard lately.
type routers struct {
	mu   sync.Mutex
	seen []router // the least recent first
	told map[netboot.NoticeKind]time.Time
}

func newRouters() *routers { return &routers{told: make(map[netboot.NoticeKind]time.Time)} }

// saw notes an advertisement.
func (r *routers) saw(n router) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := r.seen[:0]
	for _, o := range r.seen {
		if o.addr != n.addr {
			keep = append(keep, o)
		}
	}
	if len(keep) >= routersMax {
		keep = keep[1:]
	}
	r.seen = append(keep, n)
}

// now returns those that count.
func (r *routers) now(now time.Time) []router {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []router
	for _, o := range r.seen {
		if now.Sub(o.at) < routerMemory {
			out = append(out, o)
		}
	}
	return out
}

// tell says whether to tell of something now.
func (r *routers) tell(k netboot.NoticeKind, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.told[k]; ok && now.Sub(last) < noticeAgain {
		return false
	}
	r.told[k] = now
	return true
}

// finding is what the routers of a segment lack.
type finding string

const (
	findingFine      finding = "fine"
	findingNoRoute   finding = "no-route"
	findingUnmanaged finding = "unmanaged"
)

// routerRule judges the advertisements of a segment: whether one gives a route to the
// agent, and whether one has the flag M or O. The first row that fits decides.
//
//	mode      | route | M   | O   | finding
//	none      | *     | *   | *   | fine
//	*         | no    | *   | *   | no-route
//	*         | yes   | yes | *   | fine
//	stateless | yes   | no  | yes | fine
//	*         | yes   | no  | *   | unmanaged
//
// EDK2 asks by DHCPv6 whatever the flags say; what it boots goes by them.
func routerRule(mode resource.IPv6Mode, route, managed, other bool) finding {
	switch {
	case mode == resource.IPv6None:
		return findingFine
	case !route:
		return findingNoRoute
	case managed, mode == resource.IPv6Stateless && other:
		return findingFine
	}
	return findingUnmanaged
}
