package dhcp

import (
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

// leavingHold outlives the offer of the address that a MAC changes to, and then
// both writes.
const leavingHold = leasing.OfferHold + 3*leasing.StoreTimeout

// own is what a binding has besides.
type own struct {
	// stranger says that nobody named the MAC: a guest, or a BMC that is known by a prefix only.
	stranger bool
	// xid is the exchange in which the MAC was told the address last.
	xid dhcpv4.TransactionID
	// old is where the MAC comes from: its lease is to be deleted once it has another.
	old netip.Addr
}

type binding = leasing.Binding[own]

// pool is the bindings of the segment, by MAC and by address.
type pool struct {
	*leasing.Table[own]
	guests guests
}

func newPool(leases []netboot.Lease) *pool {
	p := &pool{Table: leasing.NewTable[own](), guests: newGuests()}
	for _, l := range leases {
		b := &binding{Client: l.MAC, Server: l.Server, Addr: l.Address, State: leasing.Leased, Expires: l.Expires}
		if l.Declined {
			b.State = leasing.Declined
			p.ByAddr[b.Addr] = b
			continue
		}
		if old := p.ByClient[b.Client]; old != nil && old.Expires.After(b.Expires) {
			continue // the MAC moved, and the store kept the older lease
		}
		p.bind(b)
	}
	return p
}

// bind makes b the binding of its MAC and of its address.
func (p *pool) bind(b *binding) {
	if old := p.ByClient[b.Client]; old != nil && p.ByAddr[old.Addr] == old {
		delete(p.ByAddr, old.Addr)
	}
	if old := p.ByAddr[b.Addr]; old != nil && p.ByClient[old.Client] == old {
		delete(p.ByClient, old.Client)
		p.guests.leave(old.Client)
	}
	p.ByClient[b.Client], p.ByAddr[b.Addr] = b, b
	p.guests.follow(b)
}

// move makes b the binding of its MAC, which may have a lease of another address.
// Nobody gets that address before its lease is deleted: the deletion would hit his.
func (p *pool) move(b *binding, now time.Time) {
	if was := p.ByClient[b.Client]; was != nil {
		if b.Own.old = was.Addr; was.State == leasing.Offered {
			b.Own.old = was.Own.old
		}
	}
	p.bind(b)
	if o := p.ByAddr[b.Own.old]; b.Own.old == b.Addr || o != nil && (o.State != leasing.Leaving || o.Client != b.Client) {
		b.Own.old = netip.Addr{} // it is its own again, or somebody else's, whose lease replaced it
	}
	if b.Own.old.IsValid() {
		p.ByAddr[b.Own.old] = &binding{Client: b.Client, Addr: b.Own.old, State: leasing.Leaving, Expires: now.Add(leavingHold)}
	}
}

// offer returns the address to offer to the MAC and holds it: what is reserved for
// it, else what it holds already, else what it had last, else a new one. fresh says
// that the address was not held before this call. ok is false if the pool is
// exhausted.
func (p *pool) offer(sc scope, mac string, now time.Time) (addr netip.Addr, fresh, ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[mac]
	if sc.may(sc.mine) && (b == nil || b.Addr != sc.mine) && p.vacant(sc, mac, sc.mine, now) {
		p.move(&binding{Client: mac, Addr: sc.mine, State: leasing.Offered, Expires: now.Add(leasing.OfferHold)}, now)
		return sc.mine, true, true
	}
	if b != nil && sc.may(b.Addr) {
		if b.Taken(now) {
			if b.State == leasing.Offered {
				b.Expires = now.Add(leasing.OfferHold)
			}
			return b.Addr, false, true
		}
		if !p.guests.admit(sc, mac, now) {
			return netip.Addr{}, false, false
		}
		b.State, b.Expires, b.Guest, b.Own.stranger = leasing.Offered, now.Add(leasing.OfferHold), sc.guest, sc.stranger
		p.guests.follow(b)
		return b.Addr, true, true
	}
	if !p.guests.admit(sc, mac, now) {
		return netip.Addr{}, false, false
	}
	addr, ok = p.free(sc, mac, now)
	if ok {
		p.move(&binding{Client: mac, Addr: addr, State: leasing.Offered, Expires: now.Add(leasing.OfferHold), Guest: sc.guest, Own: own{stranger: sc.stranger}}, now)
	}
	return addr, true, ok
}

// free finds an address for the MAC: one that rests only for who is no stranger.
func (p *pool) free(sc scope, mac string, now time.Time) (netip.Addr, bool) {
	return p.Free(sc.candidates(mac), sc.guest, !sc.stranger, now)
}

// vacant says that nobody but the MAC has the address. One that rests is not vacant,
// except for whom it is reserved for.
func (p *pool) vacant(sc scope, mac string, addr netip.Addr, now time.Time) bool {
	b := p.ByAddr[addr]
	switch {
	case b == nil, !b.Taken(now):
		return true
	case b.State == leasing.Declined:
		return addr == sc.mine
	}
	return b.Client == mac
}

// reserved says whether the MAC could have its reservation now.
func (p *pool) reserved(sc scope, mac string, now time.Time) bool {
	p.Lock()
	defer p.Unlock()
	return sc.may(sc.mine) && p.vacant(sc, mac, sc.mine, now)
}

// withdraw takes back an offer that the MAC did not accept or that is not to be
// made. A lease stays.
func (p *pool) withdraw(mac string) {
	p.Lock()
	defer p.Unlock()
	if b := p.ByClient[mac]; b != nil && b.State == leasing.Offered {
		delete(p.ByClient, mac)
		delete(p.ByAddr, b.Addr)
		p.guests.leave(mac)
	}
}

// look compares a MAC's claim to an address with the bindings.
func (p *pool) look(sc scope, mac string, addr netip.Addr, now time.Time) leasing.Holding {
	p.Lock()
	defer p.Unlock()
	return p.Look(mac, addr, p.vacant(sc, mac, addr, now), now)
}

// claim holds the address for the MAC until the lease is on disk, unless
// somebody else has it or the MAC is one guest too many. It returns the address whose
// lease is to be deleted then, if the MAC had another.
func (p *pool) claim(sc scope, mac string, addr netip.Addr, now time.Time) (old netip.Addr, ok bool) {
	p.Lock()
	defer p.Unlock()
	if !p.vacant(sc, mac, addr, now) || !p.guests.admit(sc, mac, now) {
		return netip.Addr{}, false
	}
	b := p.ByClient[mac]
	if b == nil || b.Addr != addr || b.Own.old.IsValid() {
		b = &binding{Client: mac, Addr: addr, State: leasing.Offered, Expires: now.Add(leasing.OfferHold), Guest: sc.guest, Own: own{stranger: sc.stranger}}
		p.move(b, now)
		return b.Own.old, true
	}
	if !b.Taken(now) || b.State == leasing.Offered {
		b.State, b.Expires = leasing.Offered, now.Add(leasing.OfferHold)
	}
	return netip.Addr{}, true
}

// commit marks a lease that is on disk, and was asked for by the exchange.
func (p *pool) commit(l netboot.Lease, sc scope, xid dhcpv4.TransactionID, now time.Time) {
	p.Lock()
	defer p.Unlock()
	p.bind(&binding{Client: l.MAC, Server: l.Server, Addr: l.Address, State: leasing.Leased, Expires: l.Expires, Guest: sc.guest, Given: now, Own: own{stranger: sc.stranger, xid: xid}})
}

// told notes the exchange in which the MAC is offered its address.
func (p *pool) told(mac string, xid dhcpv4.TransactionID, now time.Time) {
	p.Lock()
	defer p.Unlock()
	if b := p.ByClient[mac]; b != nil {
		b.Own.xid, b.Given = xid, now
	}
}

// given compares a DECLINE with what the MAC was told.
func (p *pool) given(mac string, addr netip.Addr, xid dhcpv4.TransactionID, now time.Time) declined {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[mac]
	switch {
	case b == nil || b.Addr != addr:
		return declinedNone
	case b.Own.xid != xid || b.Given.IsZero() || now.Sub(b.Given) > declineWindow:
		return declinedLate
	}
	return declinedJust
}

// decline puts the MAC's address to rest for a time or, without one, ends the binding only:
// the address is then probed before it is offered again. ok is false if the address is not
// the MAC's any more.
func (p *pool) decline(mac string, addr netip.Addr, hold time.Duration, now time.Time) (until time.Time, ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[mac]
	if b == nil || b.Addr != addr {
		return time.Time{}, false
	}
	delete(p.ByClient, mac)
	p.guests.leave(mac)
	if hold == 0 {
		delete(p.ByAddr, addr)
		return now, true
	}
	until = now.Add(hold)
	p.ByAddr[addr] = &binding{Client: mac, Addr: addr, State: leasing.Declined, Expires: until}
	return until, true
}

// release frees the MAC's address and remembers it. ok is false if the address
// is not leased to the MAC.
func (p *pool) release(mac string, addr netip.Addr, now time.Time) (server string, ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[mac]
	if b == nil || b.Addr != addr || b.State != leasing.Leased || !now.Before(b.Expires) {
		return "", false
	}
	b.State, b.Expires = leasing.Released, now
	p.guests.leave(mac)
	return b.Server, true
}
