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

// IsFrozen says whether a freeze lies now: by the hub's time, or by the agent's clock while the hub has not
// been heard.
func IsFrozen(z *resource.Frozen, hub, now time.Time) bool {
	if hub.IsZero() {
		hub = now
	}
	return z.Lies(hub)
}

// Permits says whether an action that was decided may still be sent, by what lies on
// the server at the moment of sending.
func Permits(k ActionKind, holds []Hold, work, frozen bool) bool {
	return permit(k, holdingOf(holds), work, frozen)
}

// permit is the last check before something is sent. The first row that fits
// decides.
//
//	action            | held   | work | frozen | answer
//	on                | forced | *    | *      | no
//	on                | yes    | *    | *      | no
//	on                | no     | yes  | *      | no
//	on                | no     | no   | yes    | no
//	on                | no     | no   | no     | yes
//	restart           | forced | *    | *      | no
//	restart           | yes    | *    | *      | no
//	restart           | no     | yes  | *      | no
//	restart           | no     | no   | yes    | no
//	restart           | no     | no   | no     | yes
//	read-firmware     | forced | *    | *      | no
//	read-firmware     | yes    | *    | *      | no
//	read-firmware     | no     | yes  | *      | no
//	read-firmware     | no     | no   | yes    | no
//	read-firmware     | no     | no   | no     | yes
//	write-firmware    | forced | *    | *      | no
//	write-firmware    | yes    | *    | *      | no
//	write-firmware    | no     | yes  | *      | no
//	write-firmware    | no     | no   | yes    | no
//	write-firmware    | no     | no   | no     | yes
//	*                 | forced | *    | *      | yes
//	*                 | *      | yes  | *      | no
//	*                 | *      | no   | *      | yes
func permit(k ActionKind, held holding, work, frozen bool) bool {
	if slices.Contains([]ActionKind{ActOn, ActRestart, ActReadFirmware, ActWriteFirmware}, k) {
		return held == holdsNone && !work && !frozen
	}
	return held == holdsForced || !work
}

// workText says who works on the firmware, and until when at most.
func workText(f *resource.FirmwareWork) string {
	return fmt.Sprintf("firmware: %s, by %s, until %s at most", f.Reason, f.By, f.NotAfter.UTC().Format(time.RFC3339))
}
