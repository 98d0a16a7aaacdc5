package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// observe folds one read of the BMC into record and watch.
func (p *step) observe(o protocol.Observation) {
	last, epoch, power := p.watch.Last, p.rec.Epoch, p.rec.Power
	p.watch.Busy = p.snap.Busy
	p.shows(o)
	p.silent(o)
	p.unread(o)
	p.leftover(o)
	switch o.Power {
	case protocol.PowerOff:
		p.sawOff(o)
	case protocol.PowerUnknown, protocol.PowerUnreachable:
		// Nothing is known, so nothing is concluded; a run of Off reads ends.
	default:
		p.sawRunning(last, o)
	}
	p.reset(o, last, epoch, power)
	p.progressed(o, last, epoch, power)
	p.logged(o, last, epoch, power)
	if o.Power == protocol.PowerOff {
		if p.watch.OffSince.IsZero() || last.StartedAt.Before(p.quietAt()) {
			p.watch.OffSince = o.ReadAt // since the last read an On of ours may have come and gone
		}
		p.prove(o)
	} else {
		p.watch.OffSince = time.Time{}
		p.watch.Proofs = nil
	}
	p.watch.Last = o
	if o.Order.Kind != "" {
		p.orderFailed(o.Order)
	}
	p.contradict()
}

func (p *step) sawOff(o protocol.Observation) {
	if p.rec.Power == protocol.PowerOff {
		return
	}
	first := p.rec.Power == ""
	p.rec.Power = protocol.PowerOff
	p.dirty = true
	a := p.rec.Attempt
	if a != nil {
		a.Cleanup = false
	}
	switch {
	case first:
	case p.rec.Stop != nil:
		p.happened(resource.EventStopped, "")
	case a != nil && a.Network() && a.State == resource.AttemptSucceeded && !a.Repeat:
		p.happened(resource.EventStopped, "the installer ended")
	case a != nil && a.State == resource.AttemptFailed && a.forDiscovery() && p.rec.runsFor(a.OwnerUID) == runsThis:
		p.happened(resource.EventStopped, "the image of the discovery ended")
	case a.Open():
		// The attempt says what this means.
	default:
		p.unexpected(protocol.PowerOff, seenBy(o))
	}
}

func (p *step) sawRunning(last, o protocol.Observation) {
	if p.rec.Power == protocol.PowerOn || p.notYetOff(o.Power) {
		return
	}
	first := p.rec.Power == ""
	a := p.rec.Attempt
	ours := a != nil && !a.OnPending.IsZero() && a.Epoch == p.rec.Epoch && p.now.Sub(a.OnPending) <= onTimeout
	p.rec.Power = protocol.PowerOn
	p.rec.Epoch++
	p.dirty = true
	if a != nil {
		a.OnPending = time.Time{}
	}
	p.forgive(ActOn, ActRestart)
	if first {
		return
	}
	switch {
	case ours:
		p.poweredOn(a.OnSent, Booted{OwnerUID: a.OwnerUID, Digest: a.Digest})
		p.rec.Unexpected = nil
	case !last.StartedAt.IsZero() && last.Power == protocol.PowerOff:
		p.poweredOn(last.StartedAt, bootedFor(p.snap.Intent))
	default:
		p.poweredOn(p.now, bootedFor(p.snap.Intent))
	}
	if !ours {
		p.unexpected(protocol.PowerOn, seenBy(o))
	}
	for _, h := range p.snap.Holds {
		if _, proved := p.rec.Receipts[h.ID]; ours && !proved {
			continue // sent before the hold; it is stopped like any running server
		}
		p.violated(h, "the server came on")
	}
}

// notYetOff says whether PoweringOff is the end of the run before our On: some BMCs
// show Off as soon as they took the order, before the server is (RackN's
// power-confirm-timeout). That On may still take effect.
func (p *step) notYetOff(power protocol.PowerState) bool {
	return power == protocol.PowerPoweringOff && p.quietAt().After(p.now) && len(p.rec.Receipts) == 0
}

// violated notes that a held server ran.
func (p *step) violated(h Hold, what string) {
	if p.rec.Violated == nil {
		p.rec.Violated = map[string]time.Time{}
	}
	p.rec.Violated[h.ID] = p.now
	delete(p.rec.Receipts, h.ID)
	p.unconfirm(h)
	p.plan.Measured.Violations++
	p.happened(resource.EventHoldViolated, "hold %s: %s; a receipt is void", h.ID, what)
}

func (p *step) unexpected(to protocol.PowerState, by protocol.UnexpectedBy) {
	was := p.rec.Unexpected
	if to == protocol.PowerOff && was != nil && !was.Image.IsZero() {
		p.came(to, by, "the server went %s without an order, out of the stop image", to)
		return
	}
	p.came(to, by, "the server went %s without an order", to)
}
