package dhcp6

import (
	"hash/fnv"
	"net/netip"
	"sync"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

const (
	// offerHold keeps an advertised address while firmware collects offers.
	offerHold = 2 * time.Minute
	// declineHold is how long an address that a client found in use rests.
	declineHold = 15 * time.Minute
	// declineWindow is how long after a grant a client may find the address in use: duplicate
	// address detection takes seconds (RFC 4862 section 5.4).
	declineWindow = 2 * time.Minute
	// leavingHold outlives the deletion of a lease.
	leavingHold = 4 * leasing.StoreTimeout
	// maxBindings bounds memory and disk: a pool of IPv6 bounds neither. Room for new
	// ones is made by forgetting who has had no address for longest.
	maxBindings = 1 << 14
	// maxGuests and guestShare bound what clients hold that are no machines of ours: so
	// many, and of a small pool one address in so many.
	maxGuests  = 1 << 10
	guestShare = 2
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

type bindingState int

const (
	stateOffered bindingState = iota // held in memory only
	stateLeased
	stateReleased // free, but remembered for its machine
	stateDeclined // belongs to nobody until it expires
	stateLeaving  // nobody's, and its lease is being deleted
)

// binding is one address and the machine that has it or had it last.
type binding struct {
	id      string
	server  string // empty for offers
	addr    netip.Addr
	state   bindingState
	expires time.Time
	guest   bool      // the machine is none of ours
	given   time.Time // when it was granted or renewed last, in this run
	holders holders
}

// taken says that nobody but its machine may have the address now.
func (b *binding) taken(now time.Time) bool {
	return b.state != stateReleased && now.Before(b.expires)
}

// pool is the bindings of the segment: one address for each machine, whatever IAs it
// has. Expired and released ones are remembered.
type pool struct {
	mu      sync.Mutex
	byID    map[string]*binding // offered, leased and released ones
	byAddr  map[netip.Addr]*binding
	guests  int // bindings in byID that are guests'
	resting int // declined ones in byAddr
	// drop are addresses in stateLeaving whose leases nobody deletes yet.
	drop []netip.Addr
	// searched is when nobody was found to forget.
	searched time.Time
}

func newPool(leases []netboot.Lease6, now time.Time) *pool {
	p := &pool{byID: make(map[string]*binding), byAddr: make(map[netip.Addr]*binding)}
	for _, l := range leases {
		b := &binding{id: l.Client, server: l.Server, addr: l.Address, state: stateLeased, expires: l.Expires, guest: l.Server == ""}
		old := p.byID[l.Client]
		switch {
		case l.Declined && now.Before(l.Expires) && p.resting < maxResting:
			b.state = stateDeclined
			p.resting++
			p.byAddr[b.addr] = b
		case l.Declined, len(p.byID) >= maxBindings && old == nil, old != nil && old.expires.After(b.expires):
			p.leave(b.addr, now)
		default:
			if old != nil {
				p.unbind(old)
				p.leave(old.addr, now)
			}
			p.bind(b)
		}
	}
	return p
}

// bind adds a binding of a machine that has none, to an address that has none.
func (p *pool) bind(b *binding) {
	p.byID[b.id], p.byAddr[b.addr] = b, b
	if b.guest {
		p.guests++
	}
}

// unbind removes a machine's binding.
func (p *pool) unbind(b *binding) {
	if b == nil {
		return
	}
	if p.byID[b.id] == b {
		delete(p.byID, b.id)
		if b.guest {
			p.guests--
		}
	}
	if p.byAddr[b.addr] == b {
		delete(p.byAddr, b.addr)
		if b.state == stateDeclined {
			p.resting--
		}
	}
}

// leave keeps an address from everybody until its lease is deleted: the deletion
// would hit the next one's.
func (p *pool) leave(a netip.Addr, now time.Time) {
	p.byAddr[a] = &binding{addr: a, state: stateLeaving, expires: now.Add(leavingHold)}
	p.drop = append(p.drop, a)
}

// dropped returns an address whose lease is to be deleted now, and keeps it from
// everybody for the time that this takes.
func (p *pool) dropped(now time.Time) (a netip.Addr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.drop) > 0 {
		a, p.drop = p.drop[0], p.drop[1:]
		if b := p.byAddr[a]; b != nil && b.state == stateLeaving {
			b.expires = now.Add(leavingHold)
			return a, true
		}
	}
	return netip.Addr{}, false
}

// left frees an address whose lease was deleted.
func (p *pool) left(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byAddr[a]; b != nil && b.state == stateLeaving {
		delete(p.byAddr, a)
	}
}

// offer returns the address for the machine and holds it: the one that it has or had
// last, else a new one. ok is false if there is none for it.
func (p *pool) offer(sc scope, id string, now time.Time) (a netip.Addr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byID[id]; b != nil && sc.usable(b.addr) {
		return b.addr, p.hold(b, sc, now)
	}
	a, ok = p.free(sc, id, now)
	if !ok || !p.take(sc, id, a, now) {
		return netip.Addr{}, false
	}
	return a, true
}

// claim is offer for an address that the machine names.
func (p *pool) claim(sc scope, id string, a netip.Addr, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byID[id]; b != nil && b.addr == a {
		return p.hold(b, sc, now)
	}
	if b := p.byAddr[a]; b != nil && b.taken(now) {
		return false
	}
	return p.take(sc, id, a, now)
}

// hold holds the address that the machine has or had last.
func (p *pool) hold(b *binding, sc scope, now time.Time) bool {
	if b.guest != sc.guest {
		if sc.guest && !p.room(sc, now) {
			return false
		}
		p.unbind(b)
		b.guest = sc.guest
		p.bind(b)
	}
	if !b.taken(now) || b.state == stateOffered {
		b.state, b.expires = stateOffered, now.Add(offerHold)
	}
	return true
}

// take binds the machine to an address that is nobody's now.
func (p *pool) take(sc scope, id string, a netip.Addr, now time.Time) bool {
	old := p.byID[id]
	if sc.guest && (old == nil || !old.guest) && !p.room(sc, now) {
		return false
	}
	if old == nil && len(p.byID) >= maxBindings && !p.forget(now, false) {
		return false
	}
	if old != nil {
		p.unbind(old)
		if old.state != stateOffered {
			p.leave(old.addr, now)
		}
	}
	p.unbind(p.byAddr[a])
	p.bind(&binding{id: id, addr: a, state: stateOffered, expires: now.Add(offerHold), guest: sc.guest})
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
	for _, b := range p.byID {
		if b.taken(now) || guests && !b.guest {
			continue
		}
		if worst == nil || b.guest && !worst.guest || b.guest == worst.guest && b.expires.Before(worst.expires) {
			worst = b
		}
	}
	if worst == nil {
		p.searched = now
		return false
	}
	p.unbind(worst)
	p.leave(worst.addr, now)
	return true
}

// free finds an address: the first one that nobody remembers from the machine's own
// place in the pool on, which a hash of it gives; if all are remembered, the one
// that has been free for longest, those of guests first. A guest gets none that is
// remembered for a machine of ours. A machine of ours gets one that rests, the one that has
// rested for longest, before it gets none.
func (p *pool) free(sc scope, id string, now time.Time) (netip.Addr, bool) {
	from, size := sc.pool()
	if size == 0 {
		return netip.Addr{}, false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // fnv never fails
	var best, resting *binding
	for i, start := uint64(0), h.Sum64()%size; i < min(size, maxSearch); i++ {
		// Below the start the sum wraps; the difference cannot.
		at := start + i
		if start >= size-i {
			at = start - (size - i)
		}
		a := nth(from, at)
		if !sc.usable(a) {
			continue
		}
		b := p.byAddr[a]
		switch {
		case b == nil:
			return a, true
		case b.state == stateDeclined && b.taken(now):
			if resting == nil || b.expires.Before(resting.expires) {
				resting = b
			}
		case b.taken(now), sc.guest && !b.guest && b.state != stateDeclined:
		case best == nil, b.guest && !best.guest, b.guest == best.guest && b.expires.Before(best.expires):
			best = b
		}
	}
	if best == nil && !sc.guest {
		best = resting
	}
	if best == nil {
		return netip.Addr{}, false
	}
	return best.addr, true
}

// holding is what the pool knows of an address from the view of one machine.
type holding string

const (
	holdNothing holding = "nothing" // neither the machine nor the address has a binding
	holdSame    holding = "same"    // the address is, or was last, the machine's
	holdOther   holding = "other"   // the machine's address is another one
	holdForeign holding = "foreign" // somebody else has the address now, or it rests
)

// look compares a machine's claim to an address with the bindings.
func (p *pool) look(id string, a netip.Addr, now time.Time) holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byID[id]; b != nil {
		if b.addr == a {
			return holdSame
		}
		if b.taken(now) {
			return holdOther
		}
	}
	if b := p.byAddr[a]; b != nil && b.taken(now) {
		return holdForeign
	}
	return holdNothing
}

// address is the address that the machine holds now; the zero Addr if none.
func (p *pool) address(id string, now time.Time) netip.Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byID[id]; b != nil && b.taken(now) {
		return b.addr
	}
	return netip.Addr{}
}
