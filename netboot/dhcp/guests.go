package dhcp

import "time"

const (
	// guestLease is the lease time of a client that is no machine of ours: it is
	// short, because nobody knows whether it comes back.
	guestLease = 10 * time.Minute
	// guestShare is which part of the pool guests may hold: one in so many addresses.
	guestShare = 2
	// guestSweep is how often a full table is searched for guests who left.
	guestSweep = time.Second
)

// guests are the clients in the pool that are no machines of ours. Whoever sends
// DISCOVERs from random MAC addresses is one for each, and gets no more than their
// share. It is part of the pool and under its lock.
type guests struct {
	bindings map[string]*binding
	swept    time.Time
}

func newGuests() guests { return guests{bindings: make(map[string]*binding)} }

// admit says whether there is room for the MAC.
func (g *guests) admit(sc scope, mac string, now time.Time) bool {
	if _, ok := g.bindings[mac]; ok {
		return true
	}
	_, size := poolRange(sc.seg)
	limit := int(size / guestShare)
	if len(g.bindings) >= limit && now.Sub(g.swept) >= guestSweep {
		g.swept = now
		for m, b := range g.bindings {
			if !b.taken(now) {
				delete(g.bindings, m)
			}
		}
	}
	return len(g.bindings) < limit
}

// follow notes a binding that is new or has changed.
func (g *guests) follow(b *binding) {
	if b.guest {
		g.bindings[b.mac] = b
	} else {
		delete(g.bindings, b.mac)
	}
}

func (g *guests) leave(mac string) { delete(g.bindings, mac) }
