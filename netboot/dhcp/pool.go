package dhcp

import (
	"hash/fnv"
	"net/netip"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

const (
	// offerHold keeps an offered address for the 60 s that EDK2 tries, and then some.
	offerHold = 2 * time.Minute
	// declineHold is how long an address that a client found in use rests. A day,
	// the habit of others, empties small pools. A machine of ours that would get no
	// address else gets one that rests, after a probe.
	declineHold = 15 * time.Minute
	// leavingHold outlives the offer of the address that a MAC changes to, and then
	// both writes.
	leavingHold = offerHold + 3*leasing.StoreTimeout
)

type bindingState int

const (
	stateOffered bindingState = iota // held in memory only
	stateLeased
	stateReleased // free, but remembered for its MAC
	stateDeclined // belongs to nobody until it expires
	stateLeaving  // its MAC has another one, and its lease is being deleted
)

// binding is one address and the MAC that has it or had it last.
type binding struct {
	mac     string
	server  string
	addr    netip.Addr
	state   bindingState
	expires time.Time
	// guest says that its MAC is no machine of ours, and stranger that nobody named it: a
	// guest, or a BMC that is known by a prefix only.
	guest, stranger bool
	// xid and given are the exchange in which the MAC was told the address last, and when.
	xid   dhcpv4.TransactionID
	given time.Time
	// old is where the MAC comes from: its lease is to be deleted once it has another.
	old netip.Addr
}

// taken says that nobody but its MAC may have the address now.
func (b *binding) taken(now time.Time) bool {
	return b.state != stateReleased && now.Before(b.expires)
}

// pool is the bindings of the segment. Expired and released ones are remembered,
// so that a machine gets its old address while nobody else needed it.
type pool struct {
	mu     sync.Mutex
	byMAC  map[string]*binding // never declined ones
	byAddr map[netip.Addr]*binding
	guests guests
}

func newPool(leases []netboot.Lease) *pool {
	p := &pool{byMAC: make(map[string]*binding), byAddr: make(map[netip.Addr]*binding), guests: newGuests()}
	for _, l := range leases {
		b := &binding{mac: l.MAC, server: l.Server, addr: l.Address, state: stateLeased, expires: l.Expires}
		if l.Declined {
			b.state = stateDeclined
			p.byAddr[b.addr] = b
			continue
		}
		if old := p.byMAC[b.mac]; old != nil && old.expires.After(b.expires) {
			continue // the MAC moved, and the store kept the older lease
		}
		p.bind(b)
	}
	return p
}

// bind makes b the binding of its MAC and of its address.
func (p *pool) bind(b *binding) {
	if old := p.byMAC[b.mac]; old != nil && p.byAddr[old.addr] == old {
		delete(p.byAddr, old.addr)
	}
	if old := p.byAddr[b.addr]; old != nil && p.byMAC[old.mac] == old {
		delete(p.byMAC, old.mac)
		p.guests.leave(old.mac)
	}
	p.byMAC[b.mac], p.byAddr[b.addr] = b, b
	p.guests.follow(b)
}

// move makes b the binding of its MAC, which may have a lease of another address.
// Nobody gets that address before its lease is deleted: the deletion would hit his.
func (p *pool) move(b *binding, now time.Time) {
	if was := p.byMAC[b.mac]; was != nil {
		if b.old = was.addr; was.state == stateOffered {
			b.old = was.old
		}
	}
	p.bind(b)
	if o := p.byAddr[b.old]; b.old == b.addr || o != nil && (o.state != stateLeaving || o.mac != b.mac) {
		b.old = netip.Addr{} // it is its own again, or somebody else's, whose lease replaced it
	}
	if b.old.IsValid() {
		p.byAddr[b.old] = &binding{mac: b.mac, addr: b.old, state: stateLeaving, expires: now.Add(leavingHold)}
	}
}

// offer returns the address to offer to the MAC and holds it: what is reserved for
// it, else what it holds already, else what it had last, else a new one. fresh says
// that the address was not held before this call. ok is false if the pool is
// exhausted.
func (p *pool) offer(sc scope, mac string, now time.Time) (addr netip.Addr, fresh, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byMAC[mac]
	if sc.may(sc.mine) && (b == nil || b.addr != sc.mine) && p.vacant(sc, mac, sc.mine, now) {
		p.move(&binding{mac: mac, addr: sc.mine, state: stateOffered, expires: now.Add(offerHold)}, now)
		return sc.mine, true, true
	}
	if b != nil && sc.may(b.addr) {
		if b.taken(now) {
			if b.state == stateOffered {
				b.expires = now.Add(offerHold)
			}
			return b.addr, false, true
		}
		if !p.guests.admit(sc, mac, now) {
			return netip.Addr{}, false, false
		}
		b.state, b.expires, b.guest, b.stranger = stateOffered, now.Add(offerHold), sc.guest, sc.stranger
		p.guests.follow(b)
		return b.addr, true, true
	}
	if !p.guests.admit(sc, mac, now) {
		return netip.Addr{}, false, false
	}
	addr, ok = p.free(sc, mac, now)
	if ok {
		p.move(&binding{mac: mac, addr: addr, state: stateOffered, expires: now.Add(offerHold), guest: sc.guest, stranger: sc.stranger}, now)
	}
	return addr, true, ok
}

// free finds an address for the MAC: the first one that nobody remembers from
// the MAC's own place in the pool on; if all are remembered, the one that has
// been free for longest, those of guests first. A guest gets none that is
// remembered for a machine of ours. A machine of ours gets one that rests, the one that
// has rested for longest, before it gets none.
func (p *pool) free(sc scope, mac string, now time.Time) (netip.Addr, bool) {
	from, size := poolRange(sc.seg)
	if size == 0 || sc.only {
		return netip.Addr{}, false
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(mac)) // fnv never fails
	var best, resting *binding
	for i, start := uint32(0), h.Sum32()%size; i < size; i++ {
		addr := nth(from, (start+i)%size)
		if !sc.may(addr) {
			continue
		}
		b := p.byAddr[addr]
		switch {
		case b == nil:
			return addr, true
		case b.state == stateDeclined && b.taken(now):
			if resting == nil || b.expires.Before(resting.expires) {
				resting = b
			}
		case b.taken(now), sc.guest && !b.guest && b.state != stateDeclined:
		case best == nil, b.guest && !best.guest, b.guest == best.guest && b.expires.Before(best.expires):
			best = b
		}
	}
	if best == nil && !sc.stranger {
		best = resting
	}
	if best == nil {
		return netip.Addr{}, false
	}
	return best.addr, true
}

// vacant says that nobody but the MAC has the address. One that rests is not vacant,
// except for whom it is reserved for.
func (p *pool) vacant(sc scope, mac string, addr netip.Addr, now time.Time) bool {
	b := p.byAddr[addr]
	switch {
	case b == nil, !b.taken(now):
		return true
	case b.state == stateDeclined:
		return addr == sc.mine
	}
	return b.mac == mac
}

// reserved says whether the MAC could have its reservation now.
func (p *pool) reserved(sc scope, mac string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sc.may(sc.mine) && p.vacant(sc, mac, sc.mine, now)
}

// withdraw takes back an offer that the MAC did not accept or that is not to be
// made. A lease stays.
func (p *pool) withdraw(mac string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byMAC[mac]; b != nil && b.state == stateOffered {
		delete(p.byMAC, mac)
		delete(p.byAddr, b.addr)
		p.guests.leave(mac)
	}
}

// holding is what the pool knows of an address from the view of one MAC.
type holding string

const (
	holdNothing holding = "nothing" // neither the MAC nor the address has a binding
	holdSame    holding = "same"    // the address is, or was last, the MAC's
	holdOther   holding = "other"   // the MAC's address is another one
	holdForeign holding = "foreign" // somebody else has the address now, or it rests
)

// look compares a MAC's claim to an address with the bindings.
func (p *pool) look(sc scope, mac string, addr netip.Addr, now time.Time) holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byMAC[mac]; b != nil {
		if b.addr == addr {
			return holdSame
		}
		if b.taken(now) {
			return holdOther
		}
	}
	if !p.vacant(sc, mac, addr, now) {
		return holdForeign
	}
	return holdNothing
}

// address is the address that the MAC holds now; the zero Addr if none.
func (p *pool) address(mac string, now time.Time) netip.Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byMAC[mac]; b != nil && b.taken(now) {
		return b.addr
	}
	return netip.Addr{}
}

// claim holds the address for the MAC until the lease is on disk, unless
// somebody else has it or the MAC is one guest too many. It returns the address whose
// lease is to be deleted then, if the MAC had another.
func (p *pool) claim(sc scope, mac string, addr netip.Addr, now time.Time) (old netip.Addr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.vacant(sc, mac, addr, now) || !p.guests.admit(sc, mac, now) {
		return netip.Addr{}, false
	}
	b := p.byMAC[mac]
	if b == nil || b.addr != addr || b.old.IsValid() {
		b = &binding{mac: mac, addr: addr, state: stateOffered, expires: now.Add(offerHold), guest: sc.guest, stranger: sc.stranger}
		p.move(b, now)
		return b.old, true
	}
	if !b.taken(now) || b.state == stateOffered {
		b.state, b.expires = stateOffered, now.Add(offerHold)
	}
	return netip.Addr{}, true
}

// left frees an address whose lease was deleted.
func (p *pool) left(addr netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byAddr[addr]; b != nil && b.state == stateLeaving {
		delete(p.byAddr, addr)
	}
}

// commit marks a lease that is on disk, and was asked for by the exchange.
func (p *pool) commit(l netboot.Lease, sc scope, xid dhcpv4.TransactionID, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bind(&binding{mac: l.MAC, server: l.Server, addr: l.Address, state: stateLeased, expires: l.Expires, guest: sc.guest, stranger: sc.stranger, xid: xid, given: now})
}

// told notes the exchange in which the MAC is offered its address.
func (p *pool) told(mac string, xid dhcpv4.TransactionID, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byMAC[mac]; b != nil {
		b.xid, b.given = xid, now
	}
}

// given compares a DECLINE with what the MAC was told.
func (p *pool) given(mac string, addr netip.Addr, xid dhcpv4.TransactionID, now time.Time) declined {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byMAC[mac]
	switch {
	case b == nil || b.addr != addr:
		return declinedNone
	case b.xid != xid || b.given.IsZero() || now.Sub(b.given) > declineWindow:
		return declinedLate
	}
	return declinedJust
}

// decline puts the MAC's address to rest for a time or, without one, ends the binding only:
// the address is then probed before it is offered again. ok is false if the address is not
// the MAC's any more.
func (p *pool) decline(mac string, addr netip.Addr, hold time.Duration, now time.Time) (until time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byMAC[mac]
	if b == nil || b.addr != addr {
		return time.Time{}, false
	}
	delete(p.byMAC, mac)
	p.guests.leave(mac)
	if hold == 0 {
		delete(p.byAddr, addr)
		return now, true
	}
	until = now.Add(hold)
	p.byAddr[addr] = &binding{mac: mac, addr: addr, state: stateDeclined, expires: until}
	return until, true
}

// release frees the MAC's address and remembers it. ok is false if the address
// is not leased to the MAC.
func (p *pool) release(mac string, addr netip.Addr, now time.Time) (server string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byMAC[mac]
	if b == nil || b.addr != addr || b.state != stateLeased || !now.Before(b.expires) {
		return "", false
	}
	b.state, b.expires = stateReleased, now
	p.guests.leave(mac)
	return b.server, true
}

// leased counts the leases that run.
func (p *pool) leased(now time.Time) int { return p.count(stateLeased, now) }

// resting counts the addresses that are not offered because they were found in use.
func (p *pool) resting(now time.Time) int { return p.count(stateDeclined, now) }

func (p *pool) count(state bindingState, now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, b := range p.byAddr {
		if b.state == state && now.Before(b.expires) {
			n++
		}
	}
	return n
}
