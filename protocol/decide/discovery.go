package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A discovery boots a server that nobody owns into an image that says what is in it, and
// is over when that was reported and the server is Off. Its image writes nothing, so
// that an attempt that failed may be repeated as often as the grant says; and it has no
// right to a server that it did not power on itself.

// selfOff is how long a server that was discovered may take to power itself off.
const selfOff = 2 * time.Minute

// discovering says whether a discovery owns the server.
func discovering(in *message.ServerIntent) bool {
	return in != nil && in.Owner.Kind == resource.PurposeDiscovery
}

// forDiscovery says whether the attempt is one of a discovery.
func (a *Attempt) forDiscovery() bool { return a.Purpose == resource.PurposeDiscovery }

// mismatched says whether firmware booted by another method than was ordered. A
// discovery orders Pxe and answers HTTP boot too.
func (a *Attempt) mismatched() bool {
	if a.Observed == "" || a.Observed == a.Intended {
		return false
	}
	return !a.forDiscovery() || a.Observed != protocol.TargetUefiHTTP
}

// discovered says whether the server has said what is in it, to this owner.
func (r *Record) discovered(uid string) bool {
	a := r.Attempt
	return a != nil && a.OwnerUID == uid && a.State == resource.AttemptSucceeded && a.Evidence == protocol.EvidenceDiscovered
}

// leave is what a discovery that is over, or ends, does to its server.
type leave string

const (
	leaveProve leave = "prove" // it is Off, and Off is proved
	leaveWait  leave = "wait"
	leaveStop  leave = "stop"  // gracefully, then forced
	leaveForce leave = "force" // it was to power itself off
	leaveIt    leave = "leave" // it runs, and not for the discovery
)

// leaveRule is the end of a discovery. The first row that fits decides.
//
//	power | ours | discovered | time left | then
//	off   | *    | *          | *         | prove
//	other | *    | *          | *         | wait
//	on    | no   | *          | *         | leave
//	on    | yes  | yes        | yes       | wait
//	on    | yes  | yes        | no        | force
//	on    | yes  | no         | *         | stop
//
// ours is that the discovery powered it on. A server that it found running, or that
// somebody powered on meanwhile, is never stopped by its end.
func leaveRule(power running, ours, discovered, left bool) leave {
	switch {
	case power == isOff:
		return leaveProve
	case power == isOther:
		return leaveWait
	case !ours:
		return leaveIt
	case !discovered:
		return leaveStop
	case left:
		return leaveWait
	}
	return leaveForce
}

// leaves brings the server of a discovery to its end. over says that the hub ends it;
// until then a server that was discovered is only powered off.
func (p *step) leaves(over bool) {
	in, a := p.snap.Intent, p.rec.Attempt
	done := p.rec.discovered(in.Owner.UID)
	// A stop that was begun is ended: what was sent cannot be called back.
	ours := p.rec.runsFor(in.Owner.UID) == runsThis || p.rec.Stop != nil
	var until time.Time
	if done {
		until = a.Since.Add(selfOff)
	}
	switch leaveRule(p.leaving(), ours, done, p.now.Before(until)) {
	case leaveProve:
		p.stop(resource.StopSoft, p.snap.Settings.SoftTimeout)
		if over {
			p.released()
		} else if !p.awaitQuiet() {
			p.disarm()
		}
	case leaveWait:
		p.recheck(activeInterval)
	case leaveForce:
		p.stop(resource.StopHard, 0)
	case leaveStop:
		p.stop(resource.StopSoft, p.snap.Settings.SoftTimeout)
	case leaveIt:
		if over {
			p.letGo()
		}
	}
}

// leaving is the power as the end of a discovery sees it: only what is not known waits.
func (p *step) leaving() running {
	switch p.watch.Last.Power {
	case protocol.PowerOff:
		return isOff
	case "", protocol.PowerUnknown, protocol.PowerUnreachable:
		return isOther
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	return isOn
}

// letGo ends a discovery whose server runs for somebody else. An override of ours that
// may still be armed must not outlive it; it is cleared at the next Off.
func (p *step) letGo() {
	in, a := p.snap.Intent, p.rec.Attempt
	if p.rec.Released == in.Owner.UID {
		return
	}
	if a != nil && a.Disarm && (p.watch.Last.Override.Armed() && p.isOurs(p.watch.Last.Override) || a.hidden()) {
		p.raise(resource.CondServerOn, "the boot override of the discovery is cleared when the server is Off")
		return
	}
	p.forget()
	p.happened(resource.EventReleased, "was not booted by the discovery, and is left as it is")
}

// forget drops what the record has of an owner that ends: tokens die with the claim.
// That its grant was used stays a while (P4).
func (p *step) forget() {
	p.rec.Released = p.snap.Intent.Owner.UID
	p.rec.Attempt, p.rec.Unexpected = nil, nil
	p.rec.forgetOwners(p.rec.Released)
	p.dirty = true
}

// discover is run for a server that a discovery owns and has discovered, or that an
// attempt of it left running. It says whether there is nothing else to do.
func (p *step) discover() bool {
	in, a := p.snap.Intent, p.rec.Attempt
	if !discovering(in) || a == nil {
		return false
	}
	if p.rec.discovered(in.Owner.UID) {
		p.leaves(false)
		return true
	}
	if runningOf(p.watch.Last.Power) == isOn && a.State == resource.AttemptFailed && p.rec.runsFor(in.Owner.UID) == runsThis {
		p.stop(resource.StopSoft, p.snap.Settings.SoftTimeout)
		return true
	}
	return false
}

// deriveDiscovery says that a discovery is given up, or what it waits for.
func (p *step) deriveDiscovery() {
	in, a := p.snap.Intent, p.rec.Attempt
	if !discovering(in) || in.Boot == nil || a.Open() || p.snap.Grant == nil || p.rec.discovered(in.Owner.UID) {
		return
	}
	use := p.rec.Used[grantKey(in.Boot)]
	if use.Attempts < p.snap.Grant.MaxAttempts {
		return
	}
	code, reason := resource.AttemptOutcomeUnknown, "its record is lost"
	if a != nil && a.OwnerUID == in.Owner.UID {
		code, reason = a.Code, a.Reason
	}
	p.raise(resource.CondDiscoveryFailed, "%d of %d attempts; the last: %s: %s", use.Attempts, p.snap.Grant.MaxAttempts, code, reason)
}
