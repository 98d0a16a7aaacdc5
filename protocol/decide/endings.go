package decide

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// endings lets go of a server whose owner ends.
type endings struct {
	d *draft
	s *Snapshot
}

func (en endings) attempts() attempts { return attempts(en) }

func (en endings) disarming() disarming { return disarming{en.d} }

func (en endings) proofs() proofs { return proofs(en) }

func (en endings) stops() stops { return stops(en) }

// leaves brings the server of a discovery to its end. over says that the hub ends it;
// until then a server that was discovered is only powered off.
func (en endings) leaves(over bool) {
	in, a := en.s.Intent, en.d.rec.Attempt
	done := en.d.rec.discovered(in.Owner.UID)
	// A stop that was begun is ended: what was sent cannot be called back.
	ours := en.d.rec.runsFor(in.Owner.UID) == runsThis || en.d.rec.Stop != nil
	var until time.Time
	if done {
		until = a.Stage.Since.Add(selfOff)
	}
	switch leaveRule(leavingOf(en.d.watch.Last.Power), ours, done, en.d.now.Before(until)) {
	case leaveProve:
		en.stops().advance(resource.StopSoft, en.s.Settings.SoftTimeout)
		if over {
			en.release()
		} else if !en.d.awaitQuiet() {
			en.disarming().disarm()
		}
	case leaveWait:
		en.d.recheck(activeInterval)
	case leaveForce:
		en.stops().advance(resource.StopHard, 0)
	case leaveStop:
		en.stops().advance(resource.StopSoft, en.s.Settings.SoftTimeout)
	case leaveIt:
		if over {
			en.letGo()
		}
	}
}

// letGo ends a discovery whose server runs for somebody else. An override of ours that
// may still be armed must not outlive it; it is cleared at the next Off.
func (en endings) letGo() {
	in, a := en.s.Intent, en.d.rec.Attempt
	if en.d.rec.Owners.Released == in.Owner.UID {
		return
	}
	if a != nil && en.d.rec.Residue.has(LeftOverride) && (en.d.watch.Last.Override.Armed() && a.isOurs(en.d.watch.Last.Override) || a.hidden()) {
		en.d.raise(resource.CondServerOn, "the boot override of the discovery is cleared when the server is Off")
		return
	}
	en.forget()
	en.d.happened(resource.EventReleased, "was not booted by the discovery, and is left as it is")
}

// forget drops what the record has of an owner that ends: tokens die with the claim.
// That its grant was used stays a while (P4).
func (en endings) forget() {
	en.d.rec.Owners.Released = en.s.Intent.Owner.UID
	en.attempts().forget()
	en.d.explained()
	en.d.rec.forgetOwners(en.d.rec.Owners.Released)
	en.d.rec.letsGo(en.s.Intent.Owner)
	en.d.dirty = true
}

// release notes that a releasing claim's server was proved Off.
func (en endings) release() {
	in := en.s.Intent
	pr := en.d.watch.Proofs[releaseProof]
	if en.d.rec.Owners.Released == in.Owner.UID || slices.ContainsFunc(en.d.rec.Residue, en.waitsFor) {
		return
	}
	if !pr.proven(en.s.Settings.SettleWindow) {
		en.proofs().awaitProof(pr)
		return
	}
	en.forget()
	en.d.happened(resource.EventReleased, "Off since %s", en.d.watch.OffSince.UTC().Format(time.RFC3339Nano))
}

// waitsFor reports whether the end of a claim waits for something that was left: an override that
// nothing consumed must not outlive the claim, nor a medium or a URL, unless the BMC refuses for good.
func (en endings) waitsFor(l Left) bool {
	switch l.Kind {
	case LeftOverride, LeftRearm:
		return true
	case LeftMedium:
		return en.d.watch.Eject.Tries < ejectTries
	case LeftURL:
		return !en.d.watch.URL.stays()
	case LeftKept, LeftRunning:
	}
	return false
}
