package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// attempts moves one power-on along, from its beginning to its end.
type attempts struct {
	d *draft
	s *Snapshot
}

func (at attempts) requests() requests { return requests(at) }

func (at attempts) urls() urls { return urlsOf(at.d, at.s) }

func (at attempts) disarming() disarming { return disarming{at.d} }

func (at attempts) drives() drives { return drivesOf(at.d, at.s) }

func (at attempts) fallbacks() fallbacks { return fallbacksOf(at.d, at.s) }

func (at attempts) inrush() inrush { return inrush(at) }

func (at attempts) rearming() rearming { return rearming(at) }

// advance moves the open attempt of the step's record by what was read.
func (at attempts) advance() {
	a := at.d.rec.Attempt
	power := a.powerOf(at.d.watch.Last.Power)
	has := armedOf(at.d.rec.Attempt, at.d.watch.Last, at.d.now)
	if power == isOff && !a.Stage.PowerOn.Sent.IsZero() {
		power = at.offTells(a, has)
	}
	waits := at.unheard(a, power, has)
	if waits && a.Stage.State != resource.AttemptPreparing {
		at.d.recheck(activeInterval)
		at.d.raise(resource.CondAwaitingHub, "first boot")
		return
	}
	if at.queued(a, power, has) {
		at.d.recheck(activeInterval) // armed as it is, somebody else may switch it on
		return
	}
	t := timerOf(at.d.now, a, power)
	if waits {
		t = timerRun
	}
	next, act, reason := attemptStep(a.Stage.State, a.Network(), power, has, t)
	if a.Stage.State == resource.AttemptFetched {
		at.d.recheck(fetchedInterval)
	} else {
		at.d.recheck(activeInterval)
	}
	switch {
	case next == resource.AttemptFailed:
		code := codeRule(a.Stage.State, power, has, a.Stage.Arming.Outcome == protocol.BootRefusedByState, askedOf(a))
		if byMedium(a.Order.Target) {
			reason, code = at.mediaFailure(reason, code)
		}
		if code == resource.AttemptNoReport {
			reason += ": it was to report " + string(a.report())
			if why := a.tooWeak(); why != "" {
				reason += ", and what it reported was not enough: " + why
			}
		}
		at.fail(reason, code)
		if act == ActForceOff {
			at.leavesRunning()
		}
		return
	case next == resource.AttemptSucceeded:
		if a.Stage.Observed == "" && a.Order.Target == protocol.TargetHdd {
			a.Stage.Observed = protocol.TargetHdd // else firmware asked the network first
		}
		at.enter(next)
		at.d.watch.Backoff = 0
		if a.Order.Target == protocol.TargetSetup {
			return
		}
		at.d.happened(resource.EventDiskBoot, "booted from disk; override consumed")
		return
	case next == resource.AttemptConsumed && a.Stage.State != next:
		at.enter(next)
		at.d.happened(resource.EventConsumed, "firmware consumed the override %s", a.Order.Target)
		if a.Order.Restart {
			at.restartedByOrder()
		}
		if !a.Network() {
			at.advance()
		}
		at.tookCached()
		return
	case next != a.Stage.State:
		at.enter(next)
	}
	switch act {
	case ActArm:
		if waits {
			at.d.raise(resource.CondAwaitingHub, "first boot")
			return
		}
		if at.d.now.Before(at.d.watch.NextTry) {
			at.d.recheckAt(at.d.watch.NextTry)
			return
		}
		if at.drives().insert() {
			return
		}
		at.d.mark(&a.Marks.Written, at.d.now, PartPrepare, a.At)
		at.urls().begin(a)
		at.d.act(Action{Kind: ActArm, Attempt: a.ID, Override: protocol.Override{Target: a.Order.Target, Enabled: protocol.OverrideOnce, Mode: "UEFI"}, URI: a.ByURL(), Plain: a.ByURL() && a.Order.Reach != resource.ReachURI && !a.PrivateURL()})
	case ActOn:
		if !a.Stage.PowerOn.Sent.IsZero() && at.d.now.Before(at.d.watch.Pause) {
			at.d.recheckAt(at.d.watch.Pause) // the BMC asked for more time than we give it
			return
		}
		kind := ActOn
		if a.Order.Restart && at.d.watch.Last.Power != protocol.PowerOff {
			kind = ActRestart
		}
		at.d.ordered(kind, "%s boot", a.Order.Target)
		if a.Stage.PowerOn.send(at.d.now) {
			at.d.happened(resource.EventPowerOn, "with override %s", a.Order.Target)
		}
		a.Stage.Epoch = at.d.rec.Shown.Epoch
		at.d.dirty = true
		at.d.act(Action{Kind: kind, Attempt: a.ID, Soft: kind == ActRestart && a.Order.Soft})
	case ActNone, ActDisarm, ActRestart, ActGraceful, ActForceOff, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL, ActReadFirmware, ActWriteFirmware:
	}
}

// unheard says whether a network boot waits for the hub, because nothing of it was
// sent, or because the On that would be sent now is one that an earlier run of the agent
// may have sent: on a disk that was rolled back it would be the same boot again, for a
// claim that may have ended since. When the hub is heard, its time begins.
func (at attempts) unheard(a *Attempt, power running, has armed) bool {
	on := (a.Stage.State == resource.AttemptArmed || a.Stage.State == resource.AttemptPowerRequested) && power == isOff && has == armedOurs
	if !a.Network() || a.Stage.State != resource.AttemptPreparing && !on {
		return false
	}
	if at.s.HubTime.IsZero() {
		return true
	}
	if slices.ContainsFunc(at.d.rec.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondAwaitingHub }) && a.Stage.Since.Before(at.d.now) {
		at.enter(a.Stage.State)
	}
	return false
}

// queued reports whether the On that is due waits for its turn by the rack's inrush limit. Mostly it had that before
// anything was armed; not after a restart of the agent, or where arming took long. When it comes, its time begins.
func (at attempts) queued(a *Attempt, power running, has armed) bool {
	due := a.Stage.State == resource.AttemptArmed || a.Stage.State == resource.AttemptPowerRequested && at.d.now.Sub(a.Stage.PowerOn.Again) >= onResend
	if !due || power != isOff || has != armedOurs {
		return false
	}
	if at.inrush().waits(PlaceSend) {
		return true
	}
	if at.inrush().waited() {
		at.enter(a.Stage.State)
	}
	return false
}

func (at attempts) enter(s resource.AttemptState) {
	a := at.d.rec.Attempt
	a.Stage.enter(s, at.d.now)
	if a.Stage.Arming.Outcome == protocol.BootCoercedContinuous && (s == resource.AttemptConsumed || s == resource.AttemptFetched) {
		at.disarms() // see lasting
	}
	if s == resource.AttemptSucceeded || s == resource.AttemptFailed {
		at.ended()
	}
	at.d.dirty = true
}

// assumed says once what Recover has assumed.
func (at attempts) assumed() {
	if a := at.d.rec.Attempt; a != nil && a.Marks.Assumed && !a.Marks.Announced {
		a.Marks.Announced, at.d.dirty = true, true
		at.d.happened(resource.EventFetched, "%s", a.Stage.Ending.Reason)
	}
}

// fail ends the open attempt. A network boot whose file was fetched has spent
// its grant: the installer may have run. One that armed nothing has used none of it.
func (at attempts) fail(reason string, code resource.AttemptCode) {
	a := at.d.rec.Attempt
	fetched, nothing := a.Stage.State == resource.AttemptFetched, a.Stage.State == resource.AttemptPreparing
	a.Stage.Ending.Reason, a.Stage.Ending.Code = reason, code
	at.disarms()
	at.enter(resource.AttemptFailed)
	at.d.happened(resource.EventAttemptFailed, "%s boot: %s", a.Order.Target, reason)
	if a.Network() && (fetched || a.Marks.Cached && !a.Stage.PowerOn.Sent.IsZero()) {
		at.spend(reason) // what the BMC has, firmware may boot with nobody seeing it
	}
	if a.Network() && nothing {
		at.d.rec.giveBack()
	}
	if at.fallbacks().count() {
		at.leavesRunning()
	}
	at.d.watch.Backoff++
	pause := min(attemptBackoff<<min(at.d.watch.Backoff-1, 10), attemptMaxPause)
	at.d.watch.NextTry = at.d.now.Add(pause)
}

// abandon ends an open attempt because the server shall not run, or not for its
// claim any more. If it shall again before it was stopped, it is stopped all the
// same: nobody watched what it booted.
func (at attempts) abandon(why string, code resource.AttemptCode) {
	a := at.d.rec.Attempt
	at.d.rec.Residue.drop(LeftRunning)
	if a.Stage.State != resource.AttemptPreparing && a.Stage.State != resource.AttemptArmed {
		at.leavesRunning()
	}
	a.Stage.Ending.Abandoned = true
	at.fail(why, code)
	at.d.watch.NextTry, at.d.watch.Backoff = at.d.now, 0
}

// spend marks the grant of the record's attempt as used up.
func (at attempts) spend(why string) {
	at.d.rec.spend(why)
	at.d.dirty = true
}

// isLate says whether the disk boot that the record has was given up too early. An override
// that was cleared since is none that firmware took.
func (at attempts) isLate() bool {
	a := at.d.rec.Attempt
	return a.Stage.State == resource.AttemptFailed && !a.Stage.Ending.Abandoned && at.d.rec.Residue.has(LeftOverride) &&
		lateRule(a.Network(), a.Stage.Ending.Code, runningOf(at.d.watch.Last.Power), armedOf(at.d.rec.Attempt, at.d.watch.Last, at.d.now))
}

// takeLate goes on with it.
func (at attempts) takeLate() {
	a := at.d.rec.Attempt
	at.d.rec.Residue.drop(LeftOverride)
	a.Stage.Ending, at.d.dirty = Ending{}, true
	a.Stage.enter(resource.AttemptPowerRequested, a.Stage.Since) // how long firmware had counts
	at.advance()
}

// ended notes that the record's attempt ended.
func (at attempts) ended() {
	a := at.d.rec.Attempt
	at.d.plan.Measured.Ended = append(at.d.plan.Measured.Ended, Ended{Purpose: a.Order.Purpose.Or(), Method: a.Order.Target, Code: a.Stage.Ending.Code})
}

// offTells is what the last read, which was Off, tells the open attempt.
func (at attempts) offTells(a *Attempt, has armed) running {
	seen := a.Stage.State == resource.AttemptConsumed || a.Stage.State == resource.AttemptFetched
	return offRule(seen, at.d.watch.Last.StartedAt.Before(a.Stage.Since), has, at.d.awaitQuiet() || at.staleOff(a))
}

// staleOff reads again once an Off can no longer be that of before our On, and reports
// whether it still may be.
func (at attempts) staleOff(a *Attempt) bool {
	until := a.Stage.PowerOn.last().Add(onResend)
	if !at.d.now.Before(until) {
		return false
	}
	at.d.recheckAt(until)
	return true
}

// stopped notes that what an ended attempt left running is stopped.
func (at attempts) stopped() {
	at.d.rec.Residue.drop(LeftRunning)
	at.d.dirty = true
}

// leavesRunning asks for what the attempt started to be stopped.
func (at attempts) leavesRunning() { at.d.rec.Residue.put(Left{Kind: LeftRunning}) }

// disarms asks for the attempt's override to be cleared, because nothing consumed it.
func (at attempts) disarms() { at.d.rec.Residue.disarm() }

// forget drops the attempt: another owner comes, or its owner ends.
func (at attempts) forget() {
	at.d.rec.Residue.drop(LeftOverride, LeftRunning)
	at.d.rec.Attempt, at.d.dirty = nil, true
}

// came notes that the server was seen to run: no On of ours takes effect any more.
func (at attempts) came() {
	on := &at.d.rec.Attempt.Stage.PowerOn
	on.Pending, on.Waited = time.Time{}, 0
}
