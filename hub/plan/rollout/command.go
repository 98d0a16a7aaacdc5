package rollout

import (
	"maps"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Command is what people say to a roll-out.
type Command string

// The commands.
const (
	Pause  Command = "pause"  // begin nothing more; what is on its way goes on
	Resume Command = "resume" // go on, and try again what has failed
	Abort  Command = "abort"  // end it as it is; nobody is returned
	Next   Command = "next"   // begin the next wave without waiting for the rest of this one
)

// commands lists the commands.
var commands = []Command{Pause, Resume, Abort, Next}

// outcome is what a command does.
type outcome string

const (
	doPause    outcome = "pause"
	doResume   outcome = "resume"
	doRetry    outcome = "retry"
	doAbort    outcome = "abort"
	doNext     outcome = "next"
	noOver     outcome = "over"
	noPaused   outcome = "paused"
	noRunning  outcome = "running"
	noUnproved outcome = "unproved"
	noLast     outcome = "last"
	noFailures outcome = "nothing failed"
	noCommand  outcome = "unknown"
)

// wavePlace is where in its waves a roll-out is.
type wavePlace string

const (
	atUnproved wavePlace = "unproved" // at canaries of an entry that is not proved
	atLast     wavePlace = "last"
	atOther    wavePlace = "other"
)

// commandRule says what a command does to a roll-out, or why nothing. Completed is over
// but for its stragglers, which are tried again.
//
//	command | phase      | failed | wave     | outcome
//	resume  | Paused     | *      | *        | resume
//	resume  | Completed  | yes    | *        | retry
//	resume  | Completed  | no     | *        | nothing failed
//	*       | Completed  | *      | *        | over
//	*       | Aborted    | *      | *        | over
//	*       | RolledBack | *      | *        | over
//	*       | Failed     | *      | *        | over
//	*       | Superseded | *      | *        | over
//	resume  | *          | *      | *        | running
//	abort   | *          | *      | *        | abort
//	pause   | Paused     | *      | *        | paused
//	pause   | *          | *      | *        | pause
//	next    | Paused     | *      | *        | paused
//	next    | *          | *      | unproved | unproved
//	next    | *          | *      | last     | last
//	next    | *          | *      | other    | next
func commandRule(c Command, p resource.RolloutPhase, failed bool, w wavePlace) outcome {
	switch {
	case c == Resume && p == resource.RolloutPaused:
		return doResume
	case c == Resume && p == resource.RolloutCompleted && failed:
		return doRetry
	case c == Resume && p == resource.RolloutCompleted:
		return noFailures
	case p.Over():
		return noOver
	case c == Resume:
		return noRunning
	case c == Abort:
		return doAbort
	case p == resource.RolloutPaused:
		return noPaused
	case c == Pause:
		return doPause
	case w == atUnproved:
		return noUnproved
	case w == atLast:
		return noLast
	}
	return doNext
}

// Do is a roll-out after a command of somebody, whom by names. The status that it was
// given stays as it is.
//
// Errors: invalid for an unknown command; conflict if the roll-out is not such that it
// can be done.
func Do(now time.Time, s resource.RolloutStatus, c Command, by, reason string) (resource.RolloutStatus, error) {
	now = now.UTC()
	w, failed := atOther, false
	switch {
	case s.Wave == 0 && !s.Proved:
		w = atUnproved
	case s.Wave >= s.Waves-1:
		w = atLast
	}
	for _, m := range s.Members {
		failed = failed || m.State == resource.MemberFailed
	}
	what := noCommand
	switch c {
	case Pause, Resume, Abort, Next:
		what = commandRule(c, s.Phase, failed, w)
	}
	switch what {
	case doPause:
		s.Resumes, s.Phase, s.By, s.Reason = s.Phase, resource.RolloutPaused, by, reason
	case doResume:
		s.Phase, s.Resumes, s.By, s.Reason = s.Resumes, "", "", ""
		s.Members = retried(now, s.Members)
	case doRetry:
		s.Members = retried(now, s.Members)
	case doAbort:
		s.Phase, s.Resumes, s.By, s.Reason, s.EndedAt = resource.RolloutAborted, "", by, reason, &now
	case doNext:
		s.Wave++
		s.WaveAt = now
	case noOver, noPaused, noRunning, noUnproved, noLast, noFailures, noCommand:
		return s, refusal(s, c, what)
	}
	return s, nil
}

// retried are the members with those that have failed waiting again.
func retried(now time.Time, members map[string]resource.RolloutMember) map[string]resource.RolloutMember {
	members = maps.Clone(members)
	for name, m := range members {
		if m.State == resource.MemberFailed {
			members[name] = resource.RolloutMember{Wave: m.Wave, State: resource.MemberWaiting, Since: now}
		}
	}
	return members
}

func refusal(s resource.RolloutStatus, c Command, why outcome) error {
	e := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, "rollout "+string(c), format, args...)
	}
	switch why {
	case noOver:
		return e("the roll-out of revision %d is %s, which is its end", s.Revision, s.Phase).WithHint("rackctl group revert returns to a revision of before")
	case noPaused:
		return e("the roll-out of revision %d is paused: %s", s.Revision, s.Reason).WithHint("rackctl rollout resume goes on")
	case noRunning:
		return e("the roll-out of revision %d is %s, not paused", s.Revision, s.Phase)
	case noFailures:
		return e("the roll-out of revision %d is complete, and no server of it has failed", s.Revision)
	case noUnproved:
		why := ""
		if who := waited(s); who != "" {
			why = "; it waits for " + who
		}
		return e("revision %d has an entry without a stamp, and no canary has proved it%s", s.Revision, why).WithHint("wait for a canary, or bring one back; nothing goes past the canaries before")
	case noLast:
		why := ""
		if who := waited(s); who != "" {
			why = "; it waits for " + who
		}
		return e("wave %d is the last of revision %d%s", s.Wave, s.Revision, why).WithHint("it completes without servers that cannot be reached; rackctl rollout abort ends it now")
	case doPause, doResume, doRetry, doAbort, doNext, noCommand:
	}
	return protocol.Errorf(protocol.CodeInvalid, "rollout", "%q is not pause, resume, abort or next", c)
}
