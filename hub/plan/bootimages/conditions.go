package bootimages

import (
	"fmt"
	"strings"

	"rackboot/protocol/resource"
)

// State is what there is to say of a group.
type State struct {
	Enrolment resource.Enrolment
	Checked   Checked
	HotLoop   *resource.HotLoop
	// Waits says why nothing is changed though nothing is wrong: the group is pinned, the
	// catalogue has nothing, the roll-out waits for its window; empty is nothing.
	Waits string
	// Stamp says why the current revision is for canaries only; empty where it is not.
	Stamp   string
	Rollout *resource.RolloutStatus
	// Skew says which image is older than allowed.
	Skew string
	// Failing are the servers of a roll-out that failed, with the reason.
	Failing []string
}

// Conditions are those of a group. They follow from its state alone, so that what was
// corrected is gone by the next look, and what was not stays; since when each is so is
// kept for as long as it is.
func Conditions(s State) (out []resource.ConditionState) {
	add := func(code resource.ConditionCode, message string) {
		out = append(out, resource.ConditionState{Code: code, Message: message})
	}
	held := s.HotLoop != nil && s.HotLoop.Held
	// One that gives no orders lasts until the last server is booted again, and stands
	// against nothing.
	open := s.Rollout != nil && !s.Rollout.Phase.Over() && s.Rollout.Strategy != resource.RolloutOnNextBoot
	waits := strings.Join(s.Checked.Waits, "; ")
	if waits == "" {
		waits = s.Waits
	}
	// A group that neither follows the catalogue nor has an image of its owner's own has
	// nothing that could fail: its image stays as it is.
	ours := s.Enrolment.Managed || s.Enrolment.Skipped == resource.SkipCustomImage || len(s.Checked.Failed) > 0
	progressing, degraded, deferred := conditionRule(ours, held, len(s.Checked.Failed)+len(s.Failing) > 0, waits != "", open)
	if degraded {
		add(resource.CondImagesDegraded, failures(s))
	}
	if progressing {
		add(resource.CondImagesProgressing, progress(*s.Rollout))
	}
	if deferred {
		add(resource.CondImagesDeferred, waits)
	}
	if held {
		add(resource.CondGroupHotLoop, fmt.Sprintf("%d times within %s; the other writer is %s", s.HotLoop.Count, LoopWindow, orUnknown(s.HotLoop.Writer)))
	}
	if visible(s.Enrolment) {
		add(resource.CondGroupSkipped, s.Enrolment.Message)
	}
	if s.Stamp != "" {
		add(resource.CondWaitingForStamp, s.Stamp)
	}
	if r := s.Rollout; r != nil {
		switch r.Phase { //nolint:exhaustive // the others are no conditions
		case resource.RolloutPaused:
			add(resource.CondRolloutPaused, strings.TrimSpace(r.Reason+" "+by(r.By)))
		case resource.RolloutFailed, resource.RolloutRolledBack:
			add(resource.CondRolloutFailed, r.Reason)
		}
	}
	for _, c := range s.Checked.Failed {
		if c.Code != resource.CondImagesDegraded {
			add(c.Code, c.Message)
		}
	}
	out = append(out, s.Checked.Told...)
	if s.Skew != "" {
		add(resource.CondImageSkew, s.Skew)
	}
	return merged(out)
}

// conditionRule says which of the three are so. The first row that fits decides.
//
//	ours | held | failed | waits | open | progressing | degraded | deferred
//	no   | *    | *      | *     | yes  | yes         | no       | no
//	no   | *    | *      | *     | no   | no          | no       | no
//	yes  | yes  | *      | *     | yes  | yes         | yes      | no
//	yes  | yes  | *      | *     | no   | no          | yes      | no
//	yes  | no   | yes    | *     | yes  | yes         | yes      | no
//	yes  | no   | yes    | *     | no   | no          | yes      | no
//	yes  | no   | no     | yes   | yes  | yes         | no       | yes
//	yes  | no   | no     | yes   | no   | no          | no       | yes
//	yes  | no   | no     | no    | yes  | yes         | no       | no
//	yes  | no   | no     | no    | no   | no          | no       | no
//
// ours is that the hub is to see to the group's image; a group that is opted out is not
// degraded any more. open is that a roll-out goes on.
func conditionRule(ours, held, failed, waits, open bool) (progressing, degraded, deferred bool) {
	degraded = ours && (held || failed)
	return open, degraded, ours && !degraded && waits
}

// failures lists every cause.
func failures(s State) string {
	var parts []string
	if s.HotLoop != nil && s.HotLoop.Held {
		parts = append(parts, "somebody else changes the image each time")
	}
	for _, c := range s.Checked.Failed {
		text := c.Message
		if c.Code != resource.CondImagesDegraded {
			text = string(c.Code) + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, s.Failing...), "; ")
}

func progress(r resource.RolloutStatus) string {
	done := 0
	for _, m := range r.Members {
		if m.State == resource.MemberDone {
			done++
		}
	}
	return fmt.Sprintf("revision %d, %s, wave %d of %d, %d of %d servers done", r.Revision, r.Phase, r.Wave, r.Waves, done, len(r.Members))
}

// merged has each code once, with all messages.
func merged(in []resource.ConditionState) (out []resource.ConditionState) {
	at := map[resource.ConditionCode]int{}
	for _, c := range in {
		if i, twice := at[c.Code]; twice {
			out[i].Message += "; " + c.Message
			continue
		}
		at[c.Code] = len(out)
		out = append(out, c)
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "not known; see rackctl audit --target ServerGroup/…"
	}
	return s
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "(" + who + ")"
}
