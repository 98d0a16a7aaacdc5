package dhcp6

import (
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

// commit marks a lease of a holder that is on disk. ok is false if the address is not
// the machine's any more; then it must not be granted.
func (p *pool) commit(l netboot.Lease6, who holder, now time.Time) (ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[l.Client]
	if b == nil || b.Addr != l.Address {
		return false
	}
	b.State, b.Expires, b.Server, b.Given = leasing.Leased, l.Expires, l.Server, now
	b.Own.grant(who, l.Expires)
	return true
}

// withdraw takes back an offer that is not to be made. A lease stays.
func (p *pool) withdraw(id string) {
	p.Lock()
	defer p.Unlock()
	if b := p.ByClient[id]; b != nil && b.State == leasing.Offered {
		p.unbind(b)
	}
}

// given reports whether the address is the machine's, and was granted within declineWindow.
func (p *pool) given(id string, a netip.Addr, now time.Time) (just, ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[id]
	if b == nil || b.Addr != a {
		return false, false
	}
	return !b.Given.IsZero() && now.Sub(b.Given) <= declineWindow, true
}

// decline puts the machine's address to rest. ok is false if the address is not the
// machine's: a stranger must not be able to empty the pool. Where too many rest, the
// one that has rested for longest is free again.
func (p *pool) decline(sc scope, id string, a netip.Addr, now time.Time) (until time.Time, ok bool) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[id]
	if b == nil || b.Addr != a {
		return time.Time{}, false
	}
	p.unbind(b)
	_, size := sc.pool()
	for p.resting > 0 && p.resting >= int(min(size/restingShare, maxResting)) {
		p.wake(now)
	}
	until = now.Add(leasing.DeclineHold)
	p.ByAddr[a] = &binding{Client: id, Addr: a, State: leasing.Declined, Expires: until}
	p.resting++
	return until, true
}

// wake ends the rest of the address that has rested for longest.
func (p *pool) wake(now time.Time) {
	var oldest *binding
	for _, b := range p.ByAddr {
		if b.State == leasing.Declined && (oldest == nil || b.Expires.Before(oldest.Expires)) {
			oldest = b
		}
	}
	if oldest == nil {
		p.resting = 0
		return
	}
	p.unbind(oldest)
	p.leave(oldest.Addr, now)
}

// releasing is what a RELEASE came to.
type releasing string

const (
	releaseUnknown releasing = "unknown" // the address is not leased to the machine
	releaseHeld    releasing = "held"    // another holder of the machine still has it
	releaseFreed   releasing = "freed"   // it is free, and remembered for the machine
)

// release takes the machine's address from one of its holders.
func (p *pool) release(id string, who holder, a netip.Addr, now time.Time) (server string, came releasing) {
	p.Lock()
	defer p.Unlock()
	b := p.ByClient[id]
	switch {
	case b == nil || b.Addr != a || b.State != leasing.Leased || !now.Before(b.Expires):
		return "", releaseUnknown
	case b.Own.release(who, now):
		return b.Server, releaseHeld
	}
	b.State, b.Expires, b.Own = leasing.Released, now, nil
	return b.Server, releaseFreed
}
