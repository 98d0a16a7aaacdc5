package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Rearm is the disk, armed for once while the server runs, for a restart that the
// operating system does by itself: that of an installer that has ended, and with
// osReboot: rearm each one. It is the one override that no power-on of ours is for, it
// is never of a network target, and it does not outlive the run: it is cleared when the
// server is Off.
type Rearm struct {
	ID    string     `json:"id"`
	State RearmState `json:"state"`
	// Read is the override as the BMC spells it, Outcome what became of the write.
	Read    protocol.Override    `json:"read,omitzero"`
	Outcome protocol.BootOutcome `json:"outcome,omitempty"`
	// Way is how it is cleared now.
	Way DisarmWay `json:"way,omitempty"`
}

// RearmState is how far it has come.
type RearmState string

// The states.
const (
	RearmNone    RearmState = "none"    // there is none
	RearmArming  RearmState = "arming"  // written, or about to be
	RearmArmed   RearmState = "armed"   // and read back
	RearmUndo    RearmState = "undo"    // the BMC would keep it for ever: it is cleared
	RearmGivenUp RearmState = "givenup" // not again in this run
)

var rearmStates = []RearmState{RearmNone, RearmArming, RearmArmed, RearmUndo, RearmGivenUp}

// rearmStep moves it along. The first row that fits decides; a row that is not there
// leaves all as it is.
//
//	want | power | state   | armed | next    | action
//	*    | off   | arming  | *     | arming  | disarm
//	*    | off   | armed   | *     | armed   | disarm
//	*    | off   | undo    | *     | undo    | disarm
//	*    | off   | givenup | *     | none    | none
//	*    | on    | undo    | *     | undo    | disarm
//	*    | on    | armed   | none  | none    | taken
//	*    | on    | armed   | other | givenup | none
//	yes  | on    | none    | *     | arming  | arm
//	yes  | on    | arming  | *     | arming  | arm
//
// taken is that firmware took it: the server has restarted by itself, from its disk.
func rearmStep(want bool, power running, state RearmState, has armed) (RearmState, rearmAct) {
	switch {
	case power == isOff && state == RearmGivenUp:
		return RearmNone, rearmNothing
	case power == isOff && state != RearmNone, power == isOn && state == RearmUndo:
		return state, rearmDisarm
	case power == isOn && state == RearmArmed && has == armedNone:
		return RearmNone, rearmTaken
	case power == isOn && state == RearmArmed && has == armedOther:
		return RearmGivenUp, rearmNothing
	case power == isOn && want && (state == RearmNone || state == RearmArming):
		return RearmArming, rearmArm
	}
	return state, rearmNothing
}

type rearmAct string

const (
	rearmNothing rearmAct = "none"
	rearmArm     rearmAct = "arm"
	rearmDisarm  rearmAct = "disarm"
	rearmTaken   rearmAct = "taken"
)

// rearmRule says whether the disk is to be armed while the server runs.
//
//	boot    | osReboot | last boot | outcome
//	network | *        | *         | no
//	disk    | *        | installed | yes
//	disk    | rearm    | disk      | yes
//	disk    | *        | *         | no
//
// network is each boot of a maintenance or of boot: Network: a restart that came up
// from the disk in the middle of a maintenance is what metal-operator 938 is about.
func rearmRule(network bool, r resource.OSReboot, last lastBoot) bool {
	return !network && (last == lastInstalled || last == lastDisk && r == resource.OSRebootRearm)
}

// lastBoot is how the boot that runs came about.
type lastBoot string

const (
	lastNone      lastBoot = "none"      // not by an attempt of this owner that succeeded
	lastInstalled lastBoot = "installed" // from the network, and the installer has reported its end
	lastDisk      lastBoot = "disk"
)

func (p *step) lastBoot() lastBoot {
	a, in := p.rec.Attempt, p.snap.Intent
	switch {
	case a == nil || a.State != resource.AttemptSucceeded || a.OwnerUID != in.Owner.UID:
		return lastNone
	case a.Network() && a.Evidence == protocol.EvidenceInstalled:
		return lastInstalled
	case a.Network():
		return lastNone
	}
	return lastDisk
}

// wantsRearm says whether the disk is to be armed now. Only while everything is as
// ordered: what came on by itself is an operator's to judge.
func (p *step) wantsRearm() bool {
	in := p.snap.Intent
	if in == nil || in.Boot == nil || in.Releasing || in.Power != resource.WantOn || p.rec.Stop != nil || p.rec.Unexpected != nil ||
		len(p.snap.Holds) > 0 || p.work || p.trig != triggerNone || p.strange() || p.rec.Power != protocol.PowerOn {
		return false
	}
	return rearmRule(always(in.Boot), in.Boot.BootPolicy.OSReboot, p.lastBoot())
}

// rearm does the next step of it; run says whether the server is to run.
func (p *step) rearm(run bool) {
	want := run && p.wantsRearm()
	r, state := p.rec.Rearm, RearmNone
	if r != nil {
		state = r.State
	}
	if state == RearmNone && !want {
		return
	}
	next, act := rearmStep(want, runningOf(p.watch.Last.Power), state, p.rearmHas())
	switch {
	case next == RearmNone:
		p.rec.Rearm, p.dirty = nil, true
	case r == nil:
		p.rec.Rearm, p.dirty = &Rearm{ID: p.snap.NewID, State: next}, true
	case next != state:
		r.State, p.dirty = next, true
	}
	switch act {
	case rearmTaken:
		p.restarted()
	case rearmArm:
		p.sendRearm(Action{Kind: ActArm, Override: protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce, Mode: "UEFI"}})
	case rearmDisarm:
		p.dropRearm()
	case rearmNothing:
	}
}

// rearmHas is the override of the last read, as the rearm sees it.
func (p *step) rearmHas() armed {
	r, o := p.rec.Rearm, p.watch.Last.Override
	switch {
	case r == nil:
		return armedNone
	case !o.Armed() && r.Outcome == protocol.BootPendingReset:
		return armedOurs // no read shows it
	case !o.Armed():
		return armedNone
	case o.Target == protocol.TargetHdd, r.Outcome == protocol.BootAliased && o.Target == r.Read.Target:
		return armedOurs
	}
	return armedOther
}

// dropRearm clears what is armed for restarts, and says whether there is something to
// wait for.
func (p *step) dropRearm() bool {
	r := p.rec.Rearm
	if r == nil {
		return false
	}
	o := p.watch.Last.Override
	shown := o.Armed() && p.rearmHas() == armedOurs
	hidden := r.Outcome == protocol.BootPendingReset || r.Outcome == protocol.BootUnknown
	if r.State != RearmUndo && (r.State == RearmGivenUp || !shown && !hidden) || o.Armed() && !shown {
		p.rec.Rearm, p.dirty = nil, true // nothing is left of it
		return false
	}
	if p.isLeft(o) {
		p.rec.Rearm, p.dirty = nil, true
		return false
	}
	p.sendRearm(Action{Kind: ActDisarm, Override: r.Way.override()})
	return true
}

func (p *step) sendRearm(a Action) {
	if p.now.Before(p.watch.RearmNext) {
		p.recheckAt(p.watch.RearmNext)
		return
	}
	a.Attempt = p.rec.Rearm.ID
	p.act(a)
	p.recheck(activeInterval)
}

// rearmResult folds the answer to an arm or disarm of it, and says whether it was one.
func (p *step) rearmResult(r Result) bool {
	re := p.rec.Rearm
	if re == nil || re.ID != r.Attempt {
		return false
	}
	p.dirty = true
	if r.Action == ActDisarm {
		switch {
		case re.Way.done(r), re.Outcome == protocol.BootUnknown && r.Code == protocol.CodeUnsupported:
			if p.rec.Rearm = nil; re.State == RearmUndo {
				p.rec.Rearm = &Rearm{ID: re.ID, State: RearmGivenUp}
			}
		default:
			p.pauseRearm(r)
			p.nextRearmWay(r)
		}
		return true
	}
	re.Read, re.Outcome = r.Read, r.Outcome
	switch fate := armRule(r.Outcome, faultOf(r)); {
	case fate == fateArmed && r.Outcome == protocol.BootCoercedContinuous:
		re.State = RearmUndo
	case fate == fateArmed:
		re.State = RearmArmed
		p.watch.Last.Override = r.Stored
		p.happened(resource.EventArmed, "%s %s, for a restart of the operating system", r.Stored.Target, r.Stored.Enabled)
	case fate == fateEnds:
		if re.State = RearmUndo; r.Code == protocol.CodeUnsupported || r.Outcome == protocol.BootDropped {
			re.State = RearmGivenUp
		}
	default:
		p.pauseRearm(r)
	}
	return true
}

// rearmPause is between two writes of which the first had no good answer.
const rearmPause = 30 * time.Second

func (p *step) pauseRearm(r Result) {
	p.refused(r)
	p.watch.RearmNext = p.now.Add(pauseOf(rearmPause, r))
}

// nextRearmWay goes on to the next way of clearing it, and at the end leaves it.
func (p *step) nextRearmWay(r Result) {
	re := p.rec.Rearm
	switch next := disarmRule(re.Way, replyOf(r), p.watch.Refused[ActDisarm].Times >= disarmTries, true); {
	case next == DisarmLeave:
		left := p.watch.Last.Override
		if r.Stored.Armed() {
			left = r.Stored
		}
		if p.rec.Rearm = nil; re.State == RearmUndo {
			p.rec.Rearm = &Rearm{ID: re.ID, State: RearmGivenUp}
		}
		if !left.Armed() {
			left = protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce}
		}
		p.leave(left, r.Fault, re.Outcome == protocol.BootPendingReset || re.Outcome == protocol.BootUnknown)
		p.forgive(ActDisarm)
	case next != re.Way:
		re.Way, p.watch.RearmNext = next, p.now
		p.countAnew(ActDisarm)
	}
}

// restarted notes that the server restarted by itself and firmware took the disk.
func (p *step) restarted() {
	in := p.snap.Intent
	if in == nil || in.Boot == nil {
		return
	}
	left := protocol.BootTarget("")
	if a := p.rec.Attempt; a != nil && a.Disarm {
		left = a.Intended
	}
	p.rec.Attempt = &Attempt{
		ID: p.snap.NewID, State: resource.AttemptSucceeded, Since: p.now, At: p.now, Number: 1, Left: left, Disarm: left != "",
		Intended: protocol.TargetHdd, Observed: protocol.TargetHdd, OwnerUID: in.Owner.UID, Generation: in.Boot.Generation,
		Digest: in.Boot.Image.Digest, Epoch: p.rec.Epoch, Purpose: in.Boot.Owner.Kind,
	}
	p.rec.Epoch++
	p.rec.Ordered = p.now // what its LastResetTime shows is this
	p.poweredOn(p.now, bootedFor(in))
	p.happened(resource.EventDiskBoot, "restarted by itself; firmware took the disk")
}
