package decide

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// pursuit acts toward the goal of a server: it tells the topics what is wanted, in the order in
// which they may send something.
type pursuit struct {
	d *draft
	s *Snapshot
}

func (pu pursuit) attempts() attempts { return attempts(pu) }

func (pu pursuit) boots() boots { return boots(pu) }

func (pu pursuit) disarming() disarming { return disarming{pu.d} }

func (pu pursuit) drives() drives { return drivesOf(pu.d, pu.s) }

func (pu pursuit) endings() endings { return endings(pu) }

func (pu pursuit) firmwares() firmwares { return firmwares(pu) }

func (pu pursuit) grants() grants { return grants(pu) }

func (pu pursuit) guards() guards { return guardsOf(pu.d, pu.s) }

func (pu pursuit) proofs() proofs { return proofs(pu) }

func (pu pursuit) rearming() rearming { return rearming(pu) }

func (pu pursuit) requests() requests { return requests(pu) }

func (pu pursuit) stops() stops { return stops(pu) }

func (pu pursuit) urls() urls { return urlsOf(pu.d, pu.s) }

// pursue acts toward the goal. Nothing is sent while the server's power was not
// read since the agent started.
func (pu pursuit) pursue() {
	in := pu.s.Intent
	asked, askedMode := pu.requests().asked()
	facts := goalFacts{synced: pu.s.Synced, held: holdingOf(pu.d.holds), work: pu.d.work, asked: asked, taken: pu.s.takenOver(), frozen: pu.d.ice}
	if in != nil {
		facts.releasing, facts.want = in.Releasing, in.Power
	}
	releasing, g := facts.releasing, goal(facts)
	if pu.d.watch.Last.Power == "" {
		pu.d.recheck(0)
		return
	}
	facts.asked = askedNothing
	if pu.s.HubTime.IsZero() && g == GoalStop && !pu.requests().askedHere() && goal(facts) != GoalStop {
		// On a disk that was rolled back it would be the same one-shot again. Neither
		// is the server brought back to run: the stop may be under way.
		pu.d.raise(resource.CondAwaitingHub, "%s", asked)
		return
	}
	if g == GoalWait {
		pu.wait(releasing)
		return
	}
	pu.stops().renew()
	if g != GoalRun && g != GoalHalt && pu.d.rec.Attempt.Open() {
		pu.attempts().abandon(whyNot(g, releasing, asked), resource.AttemptWithdrawn)
	}
	if u := pu.d.rec.Unexpected; u != nil && u.To == protocol.PowerOff && (g == GoalKeepOff || g == GoalStop) {
		pu.d.explained() // somebody decides about the server again
		pu.d.dirty = true
	}
	switch g {
	case GoalKeepOff:
		mode, timeout := pu.stops().holdMode()
		pu.stops().advance(mode, timeout)
		pu.proofs().fence()
		pu.proofs().confirm()
		if releasing {
			pu.endings().release()
		}
	case GoalStop:
		mode := resource.StopSoft
		if asked != askedNothing {
			mode = askedMode
		}
		if releasing && discovering(in) {
			pu.endings().leaves(true)
			break
		}
		pu.stops().advance(mode, pu.s.Settings.SoftTimeout)
		if releasing {
			pu.endings().release()
		}
	case GoalRun:
		if in.Settings != nil {
			pu.firmwares().run()
		} else {
			pu.boots().run()
		}
	case GoalLeave:
		if !pu.stops().lingers() {
			pu.stops().end()
		}
		if pu.s.Synced {
			pu.d.withdraw()
		}
	case GoalHalt:
		pu.halt()
	case GoalWait:
	}
	if g == GoalKeepOff || g == GoalStop {
		pu.grants().renew() // whoever lets it run again orders that
	}
	pu.clearUp(g == GoalRun || g == GoalHalt && pu.d.rec.Attempt.Open())
}

// clearUp clears what is left at the BMC.
func (pu pursuit) clearUp(run bool) {
	pu.d.first(
		func() { pu.disarm(run) },
		pu.disarming().lasting,
		func() { pu.rearm(run) },
		pu.urls().clear,
		pu.drives().eject,
	)
	pu.guards().advance()
}

// disarm clears the override of an attempt; where the server is to run, its boot does.
func (pu pursuit) disarm(run bool) {
	if !run {
		pu.disarming().disarm()
	}
}

// rearm arms the disk for restarts, or clears it.
func (pu pursuit) rearm(run bool) {
	if pu.rearming().advance(run && pu.wantsRearm()) {
		pu.attempts().restarted()
	}
}

// trigger applies triggerRule.
func (pu pursuit) trigger() {
	asked, _ := pu.requests().asked()
	power := isOther
	switch last := pu.d.watch.Last.Power; {
	case last == protocol.PowerOff:
		power = isOff
	case last != "" && last != protocol.PowerUnknown && last != protocol.PowerUnreachable && pu.d.rec.Shown.Power == protocol.PowerOn:
		power = isOn
	}
	mark, to := triggerRule(len(pu.d.holds) > 0 || asked != askedNothing, power, pu.d.rec.Pending, wanted(pu.s.Intent))
	if mark {
		pu.d.rec.PendingRebootSince, pu.d.rec.Pending = pu.d.now, true
		pu.d.dirty = true
	}
	pu.d.trig = to
}

// wantsRearm says whether the disk is to be armed now. Only while everything is as
// ordered: what came on by itself is an operator's to judge.
func (pu pursuit) wantsRearm() bool {
	in := pu.s.Intent
	if in == nil || in.Boot == nil || in.Releasing || in.Power != resource.WantOn || pu.d.rec.Stop != nil || pu.d.rec.Unexpected != nil ||
		len(pu.d.holds) > 0 || pu.d.work || pu.d.ice || pu.d.trig != triggerNone || pu.d.rec.strange() || pu.d.rec.Shown.Power != protocol.PowerOn {
		return false
	}
	return rearmRule(always(in.Boot), in.Boot.BootPolicy.OSReboot, pu.d.rec.lastBoot(in.Owner.UID))
}

// wait lets firmware work end: nothing is sent. What is read counts as always.
func (pu pursuit) wait(releasing bool) {
	pu.d.watch.Waiting = true
	pu.d.forgive(ActGraceful, ActForceOff, ActOn, ActRestart)
	pu.still(len(pu.d.holds) > 0, "firmware work is under way")
	if len(pu.d.holds) > 0 {
		pu.proofs().fence()
		pu.proofs().confirm()
	}
	if releasing {
		pu.endings().release()
	}
	if !slices.ContainsFunc(pu.d.holds, func(h Hold) bool { return pu.d.rec.proof(h.ID) != proofReads }) {
		return
	}
	if !pu.d.had(resource.CondHoldBlocked) {
		pu.d.happened(resource.EventHoldBlocked, "%s", workText(pu.s.Firmware))
	}
	pu.d.raise(resource.CondHoldBlocked, "%s", workText(pu.s.Firmware))
}

// halt leaves a frozen server as it is. What firmware has begun to boot goes on; what was not switched on is taken back.
func (pu pursuit) halt() {
	if !pu.stops().lingers() {
		pu.stops().end()
	}
	pu.d.forgive(ActOn, ActRestart)
	pu.still(false, pu.s.Frozen.Text())
}

// still ends an open attempt if it is withdrawn, or if more would have to be sent for it, and else follows it.
func (pu pursuit) still(withdrawn bool, why string) {
	switch a := pu.d.rec.Attempt; {
	case !a.Open():
	case withdrawn || a.halts(pu.d.watch.Last.Power):
		pu.attempts().abandon(why, resource.AttemptWithdrawn)
	default:
		pu.attempts().advance() // it sends nothing more
	}
}

// whyNot says why the server shall not run.
func whyNot(g Goal, releasing bool, a asked) string {
	switch {
	case g == GoalKeepOff:
		return "held"
	case g == GoalLeave:
		return "nothing wants the server to run"
	case releasing:
		return "the claim ends"
	case a == askedReboot:
		return "a reboot was asked for"
	default:
		return "the claim wants the server Off"
	}
}
