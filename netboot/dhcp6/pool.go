package dhcp6

import (
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

const (
	// declineWindow is how long after a grant a client may find the address in use: duplicate
	// address detection takes seconds (RFC 4862 section 5.4).
	declineWindow = 2 * time.Minute
	// leavingHold outlives the deletion of a lease.
	leavingHold = 4 * leasing.StoreTimeout
	// maxBindings bounds memory and disk: a pool of IPv6 bounds neither. Room for new
	// ones is made by forgetting who has had no address for longest.
	maxBindings = 1 << 14
	// maxGuests bounds what clients hold that are no machines of ours, beside their share of
	// a small pool.
	maxGuests = 1 << 10
	// maxResting and restingShare are the same of declined addresses, so that nobody
	// can empty the pool by declining it.
	maxResting   = 256
	restingShare = 4
	// forgetAgain is how often a full table is searched in vain: a flood must not cost
	// more than its messages.
	forgetAgain = time.Second
	// maxSearch bounds the search for an address. It is longer than all bindings.
	maxSearch = 2 * maxBindings
)

type binding = leasing.Binding[holders]

// pool is the bindings of the segment: one address for each machine, whatever IAs it
// has.
type pool struct {
	*leasing.Table[holders]
	guests  int // bindings of machines that are guests
	resting int // declined ones
	// drop are addresses in leasing.Leaving whose leases nobody deletes yet.
	drop []netip.Addr
	// searched is when nobody was found to forget.
	searched time.Time
}

func newPool(leases []netboot.Lease6, now time.Time) *pool {
	p := &pool{Table: leasing.NewTable[holders]()}
	for _, l := range leases {
		b := &binding{Client: l.Client, Server: l.Server, Addr: l.Address, State: leasing.Leased, Expires: l.Expires, Guest: l.Server == ""}
		old := p.ByClient[l.Client]
		switch {
		case l.Declined && now.Before(l.Expires) && p.resting < maxResting:
			b.State = leasing.Declined
			p.resting++
			p.ByAddr[b.Addr] = b
		case l.Declined, len(p.ByClient) >= maxBindings && old == nil, old != nil && old.Expires.After(b.Expires):
			p.leave(b.Addr, now)
		default:
			if old != nil {
				p.unbind(old)
				p.leave(old.Addr, now)
			}
			p.bind(b)
		}
	}
	return p
}

// bind adds a binding of a machine that has none, to an address that has none.
func (p *pool) bind(b *binding) {
	p.ByClient[b.Client], p.ByAddr[b.Addr] = b, b
	if b.Guest {
		p.guests++
	}
}

// unbind removes a machine's binding.
func (p *pool) unbind(b *binding) {
	if b == nil {
		return
	}
	if p.ByClient[b.Client] == b {
		delete(p.ByClient, b.Client)
		if b.Guest {
			p.guests--
		}
	}
	if p.ByAddr[b.Addr] == b {
		delete(p.ByAddr, b.Addr)
		if b.State == leasing.Declined {
			p.resting--
		}
	}
}

// leave keeps an address from everybody until its lease is deleted: the deletion
// would hit the next one's.
func (p *pool) leave(a netip.Addr, now time.Time) {
	p.ByAddr[a] = &binding{Addr: a, State: leasing.Leaving, Expires: now.Add(leavingHold)}
	p.drop = append(p.drop, a)
}

// dropped returns an address whose lease is to be deleted now, and keeps it from
// everybody for the time that this takes.
func (p *pool) dropped(now time.Time) (a netip.Addr, ok bool) {
	p.Lock()
	defer p.Unlock()
	for len(p.drop) > 0 {
		a, p.drop = p.drop[0], p.drop[1:]
		if b := p.ByAddr[a]; b != nil && b.State == leasing.Leaving {
			b.Expires = now.Add(leavingHold)
			return a, true
		}
	}
	return netip.Addr{}, false
}

// offer returns the address for the machine and holds it: the one that it has or had
// last, else a new one. ok is false if there is none for it.
func (p *pool) offer(sc scope, id string, now time.Time) (a netip.Addr, ok bool) {
	p.Lock()
	defer p.Unlock()
	if b := p.ByClient[id]; b != nil && sc.usable(b.Addr) {
		return b.Addr, p.hold(b, sc, now)
	}
	a, ok = p.free(sc, id, now)
	if !ok || !p.take(sc, id, a, now) {
		return netip.Addr{}, false
	}
	return a, true
}

// claim is offer for an address that the machine names.
func (p *pool) claim(sc scope, id string, a netip.Addr, now time.Time) bool {
	p.Lock()
	defer p.Unlock()
	if b := p.ByClient[id]; b != nil && b.Addr == a {
		return p.hold(b, sc, now)
	}
	if b := p.ByAddr[a]; b != nil && b.Taken(now) {
		return false
	}
	return p.take(sc, id, a, now)
}

// hold holds the address that the machine has or had last.
func (p *pool) hold(b *binding, sc scope, now time.Time) bool {
	if b.Guest != sc.guest {
		if sc.guest && !p.room(sc, now) {
			return false
		}
		p.unbind(b)
		b.Guest = sc.guest
		p.bind(b)
	}
	if !b.Taken(now) || b.State == leasing.Offered {
		b.State, b.Expires = leasing.Offered, now.Add(leasing.OfferHold)
	}
	return true
}

// take binds the machine to an address that is nobody's now.
func (p *pool) take(sc scope, id string, a netip.Addr, now time.Time) bool {
	old := p.ByClient[id]
	if sc.guest && (old == nil || !old.Guest) && !p.room(sc, now) {
		return false
	}
	if old == nil && len(p.ByClient) >= maxBindings && !p.forget(now, false) {
		return false
	}
	if old != nil {
		p.unbind(old)
		if old.State != leasing.Offered {
			p.leave(old.Addr, now)
		}
	}
	p.unbind(p.ByAddr[a])
	p.bind(&binding{Client: id, Addr: a, State: leasing.Offered, Expires: now.Add(leasing.OfferHold), Guest: sc.guest})
	return true
}

// room says whether one more guest may have an address. The one who has had none for
// longest is forgotten for it.
func (p *pool) room(sc scope, now time.Time) bool {
	most := sc.guests()
	return p.guests < most || most > 0 && p.forget(now, true)
}

// forget makes room for one binding. Machines of ours are remembered longer than
// guests.
func (p *pool) forget(now time.Time, guests bool) bool {
	if now.Sub(p.searched) < forgetAgain {
		return false
	}
	var worst *binding
	for _, b := range p.ByClient {
		if b.Taken(now) || guests && !b.Guest {
			continue
		}
		if worst == nil || b.Guest && !worst.Guest || b.Guest == worst.Guest && b.Expires.Before(worst.Expires) {
			worst = b
		}
	}
	if worst == nil {
		p.searched = now
		return false
	}
	p.unbind(worst)
	p.leave(worst.Addr, now)
	return true
}

// free finds an address: one that rests only for machines of ours.
func (p *pool) free(sc scope, id string, now time.Time) (netip.Addr, bool) {
	return p.Free(sc.candidates(id), sc.guest, !sc.guest, now)
}

// look compares a machine's claim to an address with the bindings.
func (p *pool) look(id string, a netip.Addr, now time.Time) leasing.Holding {
	p.Lock()
	defer p.Unlock()
	b := p.ByAddr[a]
	return p.Look(id, a, b == nil || !b.Taken(now), now)
}
