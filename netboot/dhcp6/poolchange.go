package dhcp6

import (
	"net/netip"
	"time"

	"rackboot/netboot"
)

// commit marks a lease of a holder that is on disk. ok is false if the address is not
// the machine's any more; then it must not be granted.
func (p *pool) commit(l netboot.Lease6, who holder, now time.Time) (ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byID[l.Client]
	if b == nil || b.addr != l.Address {
		return false
	}
	b.state, b.expires, b.server, b.given = stateLeased, l.Expires, l.Server, now
	b.holders.grant(who, l.Expires)
	return true
}

// withdraw takes back an offer that is not to be made. A lease stays.
func (p *pool) withdraw(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.byID[id]; b != nil && b.state == stateOffered {
		p.unbind(b)
	}
}

// given reports whether the address is the machine's, and was granted within declineWindow.
func (p *pool) given(id string, a netip.Addr, now time.Time) (just, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byID[id]
	if b == nil || b.addr != a {
		return false, false
	}
	return !b.given.IsZero() && now.Sub(b.given) <= declineWindow, true
}

// decline puts the machine's address to rest. ok is false if the address is not the
// machine's: a stranger must not be able to empty the pool. Where too many rest, the
// one that has rested for longest is free again.
func (p *pool) decline(sc scope, id string, a netip.Addr, now time.Time) (until time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byID[id]
	if b == nil || b.addr != a {
		return time.Time{}, false
	}
	p.unbind(b)
	_, size := sc.pool()
	for p.resting > 0 && p.resting >= int(min(size/restingShare, maxResting)) {
		p.wake(now)
	}
	until = now.Add(declineHold)
	p.byAddr[a] = &binding{id: id, addr: a, state: stateDeclined, expires: until}
	p.resting++
	return until, true
}

// wake ends the rest of the address that has rested for longest.
func (p *pool) wake(now time.Time) {
	var oldest *binding
	for _, b := range p.byAddr {
		if b.state == stateDeclined && (oldest == nil || b.expires.Before(oldest.expires)) {
			oldest = b
		}
	}
	if oldest == nil {
		p.resting = 0
		return
	}
	p.unbind(oldest)
	p.leave(oldest.addr, now)
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
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byID[id]
	switch {
	case b == nil || b.addr != a || b.state != stateLeased || !now.Before(b.expires):
		return "", releaseUnknown
	case b.holders.release(who, now):
		return b.server, releaseHeld
	}
	b.state, b.expires, b.holders = stateReleased, now, nil
	return b.server, releaseFreed
}

// count counts the bindings in a state that has not ended.
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
