package decide

import (
	"time"

	"rackboot/protocol/resource"
)

// Unrecorded is what is done with a server whose step could not be put on disk.
type Unrecorded struct {
	// Action is ActForceOff or ActNone. Nothing else ever goes before its record.
	Action ActionKind
	// Counts says that the ForceOff takes room of the bound on bulk stops.
	Counts  bool
	Overlay Overlay
	// Runs says that the server was read running under a hold: what was proved of it is void.
	Runs bool
	// RecheckAt is when a pause or a soft hold's time is over; zero where none runs.
	RecheckAt time.Time
}

// unrecordedPause is the longest pause between two ForceOff that cannot be recorded.
const unrecordedPause = 2 * time.Minute

// spellTime is whether it is time for a ForceOff that cannot be recorded.
type spellTime string

const (
	spellSoft  spellTime = "soft"  // the server has time to stop by itself
	spellPause spellTime = "pause" // one was sent a while ago
	spellDue   spellTime = "due"
)

var spellTimes = []spellTime{spellSoft, spellPause, spellDue}

// unrecordedRule says whether a held server is forced off although that cannot be
// recorded. The first row that fits decides.
//
//	ours | held   | work | runs | time  | clear | action
//	no   | *      | *    | *    | *     | *     | none
//	yes  | no     | *    | *    | *     | *     | none
//	yes  | yes    | yes  | *    | *     | *     | none
//	yes  | *      | *    | no   | *     | *     | none
//	yes  | *      | *    | yes  | soft  | *     | none
//	yes  | *      | *    | yes  | pause | *     | none
//	yes  | *      | *    | yes  | due   | free  | force-off
//	yes  | *      | *    | yes  | due   | count | force-off
//	yes  | *      | *    | yes  | due   | *     | none
//
// ours is that no other agent has the rack, and that the disk is not an old copy, as far as
// this agent was told. held is by holds that are on disk. A ForceOff that would use up an
// approval waits, because it could not be noted that it is used.
func unrecordedRule(ours bool, held holding, work, runs bool, t spellTime, c Clearing) ActionKind {
	switch {
	case !ours, held == holdsNone, !permit(ActForceOff, held, work, false), !runs, t != spellDue:
		return ActNone
	case c == ClearFree, c == ClearCount:
		return ActForceOff
	}
	return ActNone
}

// StopUnrecorded decides about a server whose step could not be put on disk. Of the
// snapshot it takes Ended, Holds, Firmware, HubTime, Settings, Bulk, Record, which is the
// last that is on disk, and Observation, which is a read of now.
func StopUnrecorded(now time.Time, ours bool, s Snapshot, was Overlay) Unrecorded {
	out := Unrecorded{Action: ActNone, Overlay: was.saw(now, s.Observation)}
	runs := s.Observation != nil && runsNow(s.Observation.Power)
	if !runs || len(s.Holds) == 0 {
		return out
	}
	out.Runs = true
	if out.Overlay.Ran == nil {
		out.Overlay.Ran = s.Observation
	}
	if out.Overlay.Since.IsZero() || out.Overlay.Since.After(now) {
		out.Overlay.Since = now
	}
	violated := false
	for _, h := range s.Holds {
		_, seen := s.Record.Holds.Violated[h.ID]
		violated = violated || seen || s.Record.proof(h.ID) == proofReads
	}
	stop := Stop{Since: out.Overlay.Since}
	if s.Record.Stop != nil {
		stop = *s.Record.Stop
	}
	b := s.Bulk
	c := clearRule(b.Key && b.Bound > 0, stop.Cleared, violated, b.Approval != "", stop.Waits, b.Others < b.Bound)
	t, at := spellTimeOf(now, s, stop, violated, out.Overlay)
	out.RecheckAt = at
	out.Action = unrecordedRule(ours && !s.Ended, holdingOf(s.Holds), Working(s.Firmware, s.HubTime, now), runs, t, c)
	if out.Action == ActForceOff {
		out.Counts = c == ClearCount
		out.Overlay.Forced = now
		out.Overlay.Tries++
		out.Overlay.Sent++
	}
	return out
}

// spellTimeOf says whether it is time, and when it will be.
func spellTimeOf(now time.Time, s Snapshot, stop Stop, violated bool, o Overlay) (t spellTime, at time.Time) {
	mode, soft := holdsMode(s.Holds, violated, s.Settings.SoftTimeout)
	forced := stop.Forced
	if o.Forced.After(forced) {
		forced = o.Forced
	}
	pause := min(resendForce<<min(max(0, o.Tries-1), 10), unrecordedPause)
	if !o.Off.Before(forced) {
		forced = time.Time{} // it went off, and came on again
	}
	switch end := stop.Since.Add(soft); {
	case !forced.IsZero() && !forced.After(now):
		if at := forced.Add(pause); now.Before(at) {
			return spellPause, at
		}
	case mode == resource.StopSoft && stop.Mode != resource.StopHard && now.Before(end):
		return spellSoft, end
	}
	return spellDue, time.Time{}
}
