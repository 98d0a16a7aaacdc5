package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// boots brings a server to On with the boot that its owner prescribes.
type boots struct {
	d *draft
	s *Snapshot
}

func (bo boots) attempts() attempts { return attempts(bo) }

func (bo boots) disarming() disarming { return disarming{bo.d} }

func (bo boots) drives() drives { return drivesOf(bo.d, bo.s) }

func (bo boots) endings() endings { return endings(bo) }

func (bo boots) grants() grants { return grants(bo) }

func (bo boots) guards() guards { return guardsOf(bo.d, bo.s) }

func (bo boots) inrush() inrush { return inrush(bo) }

func (bo boots) rearming() rearming { return rearming(bo) }

func (bo boots) requests() requests { return requests(bo) }

func (bo boots) stops() stops { return stops(bo) }

func (bo boots) urls() urls { return urlsOf(bo.d, bo.s) }

func (bo boots) courseFacts() courseFacts {
	a := bo.d.rec.Attempt
	switch {
	case a == nil:
		return courseFacts{attempt: attemptNobodys}
	case a.Order.OwnerUID != bo.s.Intent.Owner.UID:
		return courseFacts{attempt: attemptOthers, open: a.Open()}
	case !a.Open():
		return courseFacts{attempt: attemptOurs, late: bo.attempts().isLate()}
	}
	return courseFacts{
		attempt: attemptOurs, open: true, strange: bo.d.rec.strange(), halts: a.halts(bo.d.watch.Last.Power), unapproved: bo.grants().unapproved(a), superseded: bo.superseded(),
		diverted: bo.s.Private.endangers(a),
	}
}

// course goes on with the attempt that the record has, and reports whether nothing of it is in
// the way of another.
func (bo boots) course() bool {
	switch courseRule(bo.courseFacts()) {
	case courseOwner:
		bo.attempts().abandon("the server has another owner now", resource.AttemptWithdrawn)
	case courseIdentity:
		bo.attempts().abandon("the server shows another identity", resource.AttemptIdentity)
	case courseApproval:
		bo.attempts().abandon("its boot needs an approval and has none", resource.AttemptWithdrawn)
	case courseSuperseded:
		bo.attempts().abandon("its owner names another boot by now", resource.AttemptWithdrawn)
	case courseDiverted:
		bo.attempts().abandon(bo.s.Private.Diverted+", before the server had its file", resource.AttemptDiverted)
	case courseAdvance:
		bo.attempts().advance()
	case courseLate:
		bo.attempts().takeLate()
	case courseHandOver:
		return bo.tidy() && bo.handOver()
	case courseTidy:
		return bo.tidy()
	}
	return false
}

func (bo boots) tidyFacts() tidyFacts {
	a := bo.d.rec.Attempt
	if a == nil || a.Stage.State != resource.AttemptFailed {
		return tidyFacts{}
	}
	return tidyFacts{
		failed: true, cleanup: bo.d.rec.Residue.has(LeftRunning), off: bo.d.watch.Last.Power == protocol.PowerOff, pending: bo.d.pending(), abandoned: a.Stage.Ending.Abandoned, override: bo.disarming().left(),
	}
}

// tidy clears what a failed attempt left, and reports whether nothing is left of it.
func (bo boots) tidy() bool {
	for {
		switch tidyRule(bo.tidyFacts()) {
		case tidyWait:
			bo.d.awaitQuiet()
			return false
		case tidyStopped:
			bo.attempts().stopped()
		case tidyStop:
			bo.stops().advance(resource.StopSoft, bo.s.Settings.SoftTimeout)
			return false
		case tidyForce:
			bo.stops().advance(resource.StopHard, 0)
			return false
		case tidyDisarm:
			bo.disarming().send()
			return false
		case tidyGone:
			bo.disarming().end()
		case tidyNothing:
			return true
		}
	}
}

func (bo boots) handOverFacts() handOverFacts {
	return handOverFacts{
		taken: bo.takes(false), power: runningOf(bo.d.watch.Last.Power), stopping: bo.d.rec.Stop != nil, pending: bo.d.pending(),
		override: bo.disarming().left(), rearm: bo.rearming().left(), armed: bo.d.rec.Residue.has(LeftOverride) || bo.d.rec.Residue.has(LeftRearm),
	}
}

// handOver lets go of what the owner before left, and reports whether nothing is left of it.
func (bo boots) handOver() bool {
	for {
		switch handOverRule(bo.handOverFacts()) {
		case handStop:
			bo.stops().advance(resource.StopSoft, bo.s.Settings.SoftTimeout)
			return false
		case handEndStop:
			bo.stops().advance(bo.d.rec.Stop.Mode, bo.s.Settings.SoftTimeout)
		case handWait:
			bo.d.awaitQuiet()
			return false
		case handDisarm:
			bo.disarming().send()
			return false
		case handGone:
			bo.disarming().end()
		case handRearm:
			if bo.rearming().drop() {
				return false
			}
		case handOn:
			bo.d.raise(resource.CondServerOn, "")
			return false
		case handLook:
			if st := bo.d.rec.Stop; st != nil {
				bo.stops().advance(st.Mode, bo.s.Settings.SoftTimeout) // a server that hangs on its way is forced
			}
			bo.d.recheck(activeInterval)
			return false
		case handForget:
			bo.attempts().forget()
			if u := bo.d.rec.Unexpected; u != nil && u.To == protocol.PowerOff {
				bo.d.explained() // somebody has decided about the server since
			}
			return true
		}
	}
}

// discoveryIs says how far the discovery is that owns the server, of which there was an attempt.
func (bo boots) discoveryIs() discoveryIs {
	in, a := bo.s.Intent, bo.d.rec.Attempt
	switch {
	case !discovering(in) || a == nil:
	case bo.d.rec.discovered(in.Owner.UID):
		return discoveryOver
	case runningOf(bo.d.watch.Last.Power) == isOn && a.Stage.State == resource.AttemptFailed && bo.d.rec.runsFor(in.Owner.UID) == runsThis:
		return discoveryStays
	}
	return discoveryNone
}

// takes says whether a server that is On runs for somebody else, and is stopped.
func (bo boots) takes(done bool) bool {
	in := bo.s.Intent
	by := bo.d.rec.runsFor(in.Owner.UID)
	if discovering(in) && by == runsOther {
		by = runsNobody // it takes a server from nobody without leave
	}
	return runningOf(bo.d.watch.Last.Power) == isOn && takeRule(by, done, in.PowerCycle)
}

func (bo boots) readyFacts() readyFacts {
	return readyFacts{
		stopping: bo.d.rec.Stop != nil, trigger: bo.d.trig, power: runningOf(bo.d.watch.Last.Power), discovery: bo.discoveryIs(),
		strange: bo.d.rec.strange(), boot: bo.s.Intent.Boot != nil || bo.s.Intent.Settings != nil,
	}
}

// ready does what comes before a boot, and reports whether the server may be booted.
func (bo boots) ready() bool {
	for {
		switch readyRule(bo.readyFacts()) {
		case readyEndStop:
			bo.stops().advance(bo.d.rec.Stop.Mode, bo.s.Settings.SoftTimeout)
		case readyStop:
			mode := resource.StopSoft
			if st := bo.d.rec.Stop; st != nil {
				mode = st.Mode
			}
			bo.stops().advance(mode, bo.s.Settings.SoftTimeout)
			return false
		case readyDiscover:
			bo.endings().leaves(false)
			return false
		case readyHalt:
			bo.stops().advance(resource.StopSoft, bo.s.Settings.SoftTimeout)
			return false
		case readyNothing:
			return false
		case readyBoot:
			return true
		}
	}
}

func (bo boots) powerFacts(done bool) powerFacts {
	in, a := bo.s.Intent, bo.d.rec.Attempt
	return powerFacts{
		restart: bo.restartDue(done), power: runningOf(bo.d.watch.Last.Power), taken: bo.takes(done),
		ran:     a != nil && a.Order.Repeat && a.Stage.State == resource.AttemptSucceeded,
		barred:  discovering(in) && !in.PowerCycle,
		odd:     !done && (a == nil || a.Stage.State != resource.AttemptFailed || a.Stage.Ending.Abandoned),
		pending: bo.d.pending(), early: bo.d.now.Before(bo.d.watch.NextTry),
	}
}

// powered does what the power of the server asks for, and reports whether it is Off and may be
// booted from there.
func (bo boots) powered(done bool) bool {
	switch powerRule(bo.powerFacts(done)) {
	case powerLater:
		bo.d.recheckAt(bo.d.watch.NextTry)
	case powerRestart:
		if !bo.inrush().waits(PlaceBegin) {
			bo.attempts().restart()
		}
	case powerStop:
		bo.stops().advance(resource.StopSoft, bo.s.Settings.SoftTimeout)
	case powerBarred:
		bo.d.raise(resource.CondServerOn, "it was found On; the discovery does not stop it, because spec.discovery.allowPowerCycle of its rack is not set")
	case powerOdd:
		bo.d.raise(resource.CondServerOn, "")
	case powerLook:
		bo.d.recheck(activeInterval)
	case powerWait:
		bo.d.awaitQuiet()
	case powerBoot:
		return true
	case powerRuns:
	}
	return false
}

// run brings the server to On with the boot that its claim prescribes.
func (bo boots) run() {
	if !bo.course() || !bo.ready() {
		return
	}
	done := bo.d.rec.bootsDisk(bo.s.Intent, bo.s.Echo)
	if !done {
		bo.d.plan.Fetch = true
	}
	if bo.ordersOn() {
		bo.grants().renew()
	}
	if !bo.powered(done) {
		return
	}
	if bo.ordersOn() && bo.d.rec.Unexpected != nil {
		bo.d.explained() // it was asked for, and came by itself
	}
	if bo.guards().putBack() || bo.urls().clearFirst() || (done || !byMedium(bo.s.Intent.Boot.BootPolicy.FirstBoot.Target())) && bo.drives().ejectFirst() {
		return
	}
	bo.begins(done)
}

// ordersOn says whether somebody has ordered the power-on.
func (bo boots) ordersOn() bool { return bo.d.trig == triggerOn || bo.requests().resuming() != nil }

func (bo boots) begins(done bool) {
	for {
		u := bo.d.rec.Unexpected
		switch beginRule(beginFacts{done: done, wentOff: u != nil && u.To == protocol.PowerOff, rearm: bo.rearming().left()}) {
		case beginNothing: // the conditions say so
			return
		case beginDisk:
			if !bo.inrush().waits(PlaceBegin) {
				bo.rearming().forget()
				bo.attempts().begin(choice{target: protocol.TargetHdd})
			}
			return
		case beginRearm:
			if bo.rearming().drop() {
				return
			}
		case beginFirst:
			bo.grants().firstBoot()
			return
		}
	}
}

// restartDue says whether a resume boots a server from disk that is not Off.
func (bo boots) restartDue(done bool) restartDue {
	if !done || bo.d.watch.Last.Power == protocol.PowerOff || bo.d.rec.Shown.Power != protocol.PowerOn {
		return restartNone
	}
	switch s := bo.requests().resuming(); {
	case s == nil || s.Fallback || bo.requests().starts():
		return restartNone
	case bo.d.now.Before(bo.d.watch.NextTry):
		return restartLater
	}
	return restartNow
}

// superseded says whether the open attempt is of a boot that its owner names no more. What it
// has started is powered off then, and the next one begins by its own grant.
func (bo boots) superseded() bool {
	a, b := bo.d.rec.Attempt, bo.s.Intent.Boot
	return b != nil && a.Order.OwnerUID == b.Owner.UID && supersededRule(b.Generation > a.Order.Generation, a.Network(), a.Stage.State, a.Marks.Served || a.Marks.Cached)
}
