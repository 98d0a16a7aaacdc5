package decide

import (
	"cmp"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// armResult folds the answer to an arm or disarm.
func (at attempts) armResult(r Result) {
	if at.rearming().result(r) {
		return
	}
	a := at.d.rec.Attempt
	if a == nil || a.ID != r.Attempt {
		return
	}
	if r.Action == ActDisarm {
		at.disarming().result(r)
		return
	}
	a.Stage.Arming.answered(r) // for the disarm, if it ended meanwhile
	at.d.dirty = true
	if a.Stage.State != resource.AttemptPreparing {
		return
	}
	fate := armRule(r.Outcome, faultOf(r))
	if fate != fateArmed {
		at.d.plan.Measured.Overrides = append(at.d.plan.Measured.Overrides, cmp.Or(r.Outcome, protocol.BootUnknown))
	}
	switch fate {
	case fateArmed:
		at.disarming().overwritten()
		at.enter(resource.AttemptArmed)
		at.d.mark(&a.Marks.Armed, at.d.now, PartArm, a.Marks.Written)
		at.d.watch.Last.Override = r.Stored
		if r.Outcome == protocol.BootStored {
			at.d.happened(resource.EventArmed, "%s %s, read back", r.Stored.Target, r.Stored.Enabled)
		} else {
			at.d.happened(resource.EventArmed, "%s %s, %s", r.Stored.Target, r.Stored.Enabled, told(r))
		}
	case fateEnds:
		at.fail(fmt.Sprintf("%s: %s %s was written; %s", resource.CondOverrideNotStored, a.Order.Target, protocol.OverrideOnce, told(r)), resource.AttemptNotStored)
	case fateWaits:
		if at.d.now.Sub(a.Stage.Since) > armTimeout/2 && at.d.now.Sub(a.Marks.Written) < armPatience {
			at.enter(a.Stage.State) // a BMC that is busy does not run out the attempt's time
		}
		at.d.refused(r)
		at.d.watch.NextTry = at.d.now.Add(pauseOf(attemptBackoff, r))
		if r.Fault.Kind == protocol.FaultPrecondition { // that no pause mends
			at.d.watch.NextTry = at.d.now.Add(againPause(at.d.watch.Refused[ActArm].Times))
		}
	case fateAgain:
		at.d.refused(r)
		at.d.watch.NextTry = at.d.now.Add(pauseOf(attemptBackoff, r))
	}
}

// powerResult folds the answer to On. A refusal is not the end: the next read
// tells, and On is sent again while its time lasts.
func (at attempts) powerResult(r Result) {
	if r.Code != "" {
		at.d.refused(r)
		at.d.watch.Pause = at.d.now.Add(pauseOf(0, r))
	}
	a := at.d.rec.Attempt
	if a == nil || a.ID != r.Attempt || a.Stage.PowerOn.Pending.IsZero() {
		return
	}
	if r.Action == ActRestart && r.Code == protocol.CodeUnsupported && a.Open() {
		a.Stage.PowerOn = PowerOn{} // nothing was sent
		at.cannotRestart(r.Message)
		return
	}
	switch r.Code {
	case protocol.CodeConflict, protocol.CodeInvalid, protocol.CodeUnsupported, protocol.CodeDenied:
		if a.Stage.PowerOn.once() { // else an earlier On may still take effect
			a.Stage.PowerOn.Pending = time.Time{}
			at.d.dirty = true
		}
	default:
		if r.Code == "" && a.Stage.PowerOn.Taken.IsZero() {
			a.Stage.PowerOn.Taken = r.At
		}
		a.Stage.PowerOn.Pending = r.At
		at.d.dirty = true
	}
}

func (at attempts) insertResult(r Result) {
	a, m := at.d.rec.Attempt, at.d.rec.Residue.Medium()
	if a == nil || m == nil || m.Attempt != r.Attempt || a.ID != r.Attempt || a.Stage.State != resource.AttemptPreparing {
		return
	}
	at.drives().occupied("")
	switch insertRule(r.Code, r.Busy, r.Occupied) {
	case fateArmed:
		at.drives().inserted(r.Config)
		at.enter(a.Stage.State) // the override has a time of its own
		if a.Order.Through == ThroughMedium && !r.Config {
			at.fail("the BMC has no drive for the config image, and what the boot needs would go over the boot segment", resource.AttemptMediaRefused)
			return
		}
		if !m.Boots() {
			at.d.happened(resource.EventMediaInserted, "the config image; read back")
		} else if r.Config {
			at.d.happened(resource.EventMediaInserted, "%s, and the config image in a second drive; read back", m.Blob)
		} else {
			at.d.happened(resource.EventMediaInserted, "%s; read back", m.Blob)
		}
	case fateEnds:
		at.fail("the BMC cannot insert the image: "+r.Message, resource.AttemptMediaRefused)
	case fateWaits:
		if at.d.now.Sub(a.Stage.Since) > armTimeout/2 {
			at.enter(a.Stage.State) // it does not run out the attempt's time
		}
		if r.Occupied {
			at.drives().occupied(r.Message)
		} else {
			at.d.refused(r)
		}
		at.d.watch.NextTry = at.d.now.Add(pauseOf(attemptBackoff, r))
	case fateAgain:
		at.d.refused(r)
		at.d.watch.NextTry = at.d.now.Add(pauseOf(attemptBackoff, r))
	}
}

// tookCached goes on from Consumed where reads are no evidence: what firmware booted was in the
// BMC, and the installer may run.
func (at attempts) tookCached() {
	a := at.d.rec.Attempt
	if !a.Marks.Cached || a.Stage.State != resource.AttemptConsumed {
		return
	}
	at.enter(resource.AttemptFetched)
	at.d.rec.ran()
	a.Stage.Evidence, a.Marks.Served, a.Stage.Observed = protocol.EvidenceFetched, true, a.Order.Target
	at.d.happened(resource.EventFetched, "%s, by the BMC before the power-on", a.Order.last())
}

// mediaFailure puts a failure of a boot by virtual media into its words.
func (at attempts) mediaFailure(reason string, code resource.AttemptCode) (string, resource.AttemptCode) {
	m := at.d.rec.Residue.Medium()
	is := mediaCode(code, m == nil || m.State == MediumInserting)
	switch {
	case is == code:
	case is == resource.AttemptMediaRefused:
		reason = "the BMC did not take the image into its drive in time"
	case at.d.watch.Last.Power == protocol.PowerOn:
		reason = "the BMC was not seen to read the image in time"
	}
	return reason, is
}

// restartedByOrder notes that firmware took what a ForceRestart was to boot, where no
// read showed the server Off in between.
func (at attempts) restartedByOrder() {
	a := at.d.rec.Attempt
	at.d.explained()
	if a.Stage.PowerOn.Pending.IsZero() {
		return // a read did
	}
	at.d.rec.Shown.Epoch++
	at.d.poweredOn(a.Stage.PowerOn.Sent, Booted{OwnerUID: a.Order.OwnerUID, Digest: a.Order.Digest})
	at.came()
}

// cannotRestart goes on with a stop and a start, where a BMC offers no ForceRestart.
func (at attempts) cannotRestart(why string) {
	at.requests().stopFirst()
	at.fail("the BMC does not restart the server, which is stopped and started instead: "+why, resource.AttemptPowerFailed)
	at.d.rec.Attempt.Stage.Ending.Abandoned = true
	at.d.watch.NextTry, at.d.watch.Backoff = at.d.now, 0
}
