package bootimages

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

const (
	// LoopWindow is how long an application of an image counts.
	LoopWindow = 24 * time.Hour
	// LoopLimit is how often the same image may be applied within LoopWindow: after as
	// many, somebody else puts another in its place each time.
	LoopLimit = 3
)

// Loop is what becomes of an application.
type Loop string

// The answers.
const (
	LoopApplies Loop = "applies"
	LoopHolds   Loop = "holds" // nothing is applied until somebody acknowledges it
)

// HotLoop says whether an image may be applied now, and what is remembered of that. value
// is what [Value] says of it.
func HotLoop(was *resource.HotLoop, value string, now time.Time) (Loop, resource.HotLoop) {
	next := resource.HotLoop{Value: value}
	held, same := false, false
	if was != nil {
		held, same = was.Held, was.Value == value
	}
	if same || held {
		next = *was
		next.Times = recent(was.Times, now)
	}
	if what := loopRule(held, same, len(next.Times) >= LoopLimit); what == LoopHolds {
		next.Held = true
		return what, next
	}
	next.Times = append(slices.Clone(next.Times), now.UTC().Format(time.RFC3339))
	next.Count = len(next.Times)
	return LoopApplies, next
}

// loopRule decides. The first row that fits decides.
//
//	held | same value | over | answer
//	yes  | *          | *    | holds
//	no   | no         | *    | applies
//	no   | yes        | no   | applies
//	no   | yes        | yes  | holds
//
// over is that it was applied [LoopLimit] times within [LoopWindow]: four edits in a year
// are no loop. The value is what is booted, so that an unrelated change of the other
// writer hides nothing (OCPBUGS-86588).
func loopRule(held, same, over bool) Loop {
	if held || same && over {
		return LoopHolds
	}
	return LoopApplies
}

// recent are the times within the window. One that cannot be read counts as now.
func recent(times []string, now time.Time) (out []string) {
	for _, s := range times {
		if at, err := time.Parse(time.RFC3339, s); err != nil || now.Sub(at) < LoopWindow {
			out = append(out, s)
		}
	}
	return out
}
