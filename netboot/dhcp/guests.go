package dhcp

import (
	"time"

	"rackboot/netboot/leasing"
)

// guestSweep is how often a full table is searched for guests who left.
const guestSweep = time.Second

// guests are the clients in the pool that nobody named: guests, and BMCs that are known by
// a prefix of their MAC addresses. Whoever sends DISCOVERs from random MAC addresses is one
// for each, and gets no more than their share; and never the addresses that are kept for
// machines of ours, one for each. It is part of the pool and under its lock.
type guests struct {
	bindings map[string]*binding // of all strangers
	guests   int                 // those that are no BMCs
	swept    time.Time
}

func newGuests() guests { return guests{bindings: make(map[string]*binding)} }

// admit says whether there is room for the MAC. A machine of ours needs none.
func (g *guests) admit(sc scope, mac string, now time.Time) bool {
	if _, ok := g.bindings[mac]; ok || !sc.stranger {
		return true
	}
	if !g.room(sc) && now.Sub(g.swept) >= guestSweep {
		g.swept = now
		for m, b := range g.bindings {
			if !b.Taken(now) {
				g.leave(m)
			}
		}
	}
	return g.room(sc)
}

func (g *guests) room(sc scope) bool {
	_, size := poolRange(sc.seg)
	if len(g.bindings) >= int(size)-sc.kept {
		return false
	}
	return !sc.guest || g.guests < int(size/leasing.GuestShare)
}

// follow notes a binding that is new or has changed.
func (g *guests) follow(b *binding) {
	if g.leave(b.Client); b.Own.stranger {
		g.bindings[b.Client] = b
		if b.Guest {
			g.guests++
		}
	}
}

func (g *guests) leave(mac string) {
	if b, ok := g.bindings[mac]; ok {
		delete(g.bindings, mac)
		if b.Guest {
			g.guests--
		}
	}
}
