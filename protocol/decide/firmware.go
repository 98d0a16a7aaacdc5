package decide

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// Working says whether firmware work is marked now: by the hub's time, or by the
// agent's clock while the hub has not been heard.
func Working(f *resource.FirmwareWork, hub, now time.Time) bool {
	if hub.IsZero() {
		hub = now
	}
	return f != nil && hub.Before(f.NotAfter)
}

// holding is how holds lie on a server.
type holding string

const (
	holdsNone   holding = "no"
	holdsPlain  holding = "yes"
	holdsForced holding = "forced" // at least one stops also during firmware work
)

func holdingOf(holds []Hold) holding {
	switch {
	case slices.ContainsFunc(holds, func(h Hold) bool { return h.ForceDuringFirmware }):
		return holdsForced
	case len(holds) > 0:
		return holdsPlain
	}
	return holdsNone
}

// Permits says whether an action that was decided may still be sent, by what lies on
// the server at the moment of sending.
func Permits(k ActionKind, holds []Hold, work bool) bool { return permit(k, holdingOf(holds), work) }

// permit is the last check before something is sent. The first row that fits
// decides.
//
//	action            | held   | work | answer
//	on                | forced | *    | no
//	on                | yes    | *    | no
//	on                | no     | yes  | no
//	on                | no     | no   | yes
//	restart           | forced | *    | no
//	restart           | yes    | *    | no
//	restart           | no     | yes  | no
//	restart           | no     | no   | yes
//	*                 | forced | *    | yes
//	*                 | *      | yes  | no
//	*                 | *      | no   | yes
func permit(k ActionKind, held holding, work bool) bool {
	if k == ActOn || k == ActRestart {
		return held == holdsNone && !work
	}
	return held == holdsForced || !work
}

// workText says who works on the firmware, and until when at most.
func workText(f *resource.FirmwareWork) string {
	return fmt.Sprintf("firmware: %s, by %s, until %s at most", f.Reason, f.By, f.NotAfter.UTC().Format(time.RFC3339))
}
