package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// shown is what the BMC shows of a server that came on without an order.
type shown string

const (
	shownNothing shown = "nothing"
	shownStopped shown = "stopped" // the EFI shell, setup, or a pause
	shownOS      shown = "os"
)

// shownOf reads it. Paused, StandbyOffline and the OEM word UEFI are how a BlueField
// shows the EFI shell (infra-controller 6281); where a BMC shows SetupEntered, one of
// the firmware's own programs waits for keys. BootProgress counts only where it was seen
// to change since the transition: some BMCs keep the word of the boot before.
func shownOf(u *Unexpected, o protocol.Observation, progress Progress) (shown, string) {
	switch class := progressOf(o.BootProgress); {
	case o.Power == protocol.PowerPaused, o.SystemState == "StandbyOffline":
		return shownStopped, "the BMC shows " + string(o.Power) + " " + o.SystemState
	case o.OEMProgress == "UEFI":
		return shownStopped, "the BMC shows the boot progress UEFI"
	case class == progressNone || progress.Class != class || progress.Since.Before(u.At):
	case class == progressSetup:
		return shownStopped, "the BMC shows that a program of the firmware waits"
	case class == progressOS:
		return shownOS, "the BMC shows " + o.BootProgress
	}
	return shownNothing, ""
}

// sign is what was last heard of a server since it came on without an order.
type sign string

const (
	signNone  sign = "none"
	signAsked sign = "asked" // its firmware asked for a boot, and was refused
	signImage sign = "image" // it was given the stop image
	signOS    sign = "os"    // an operating system
)

func signOf(u *Unexpected) sign {
	switch {
	case !u.Heard.IsZero() && !u.Heard.Before(u.Image):
		return signOS
	case !u.Image.IsZero():
		return signImage
	case !u.Asked.IsZero():
		return signAsked
	}
	return signNone
}

// standsRule says where a server stands that is On and came so without an order. The
// first row that fits decides.
//
//	shown   | sign  | quiet | class          | stands
//	*       | os    | *     | *              | runs
//	stopped | *     | *     | *              | stopped
//	*       | image | *     | *              | stopped
//	os      | *     | *     | *              | runs
//	nothing | asked | *     | *              | runs
//	nothing | none  | no    | *              | unknown
//	nothing | none  | yes   | ShellFirst     | believed
//	nothing | none  | yes   | *              | runs
//
// quiet is that nothing was heard for as long as POST takes. Firmware that was refused a
// boot goes on to its next option, which is a disk where there is one. With a shell that
// is first in a boot order under Secure Boot the class is None: firmware refuses the
// shell and boots the disk.
func standsRule(s shown, heard sign, quiet bool, class protocol.SafeStopClass) protocol.Stands {
	switch {
	case heard == signOS:
		return protocol.StandsRuns
	case s == shownStopped, heard == signImage:
		return protocol.StandsStopped
	case s == shownOS, heard == signAsked:
		return protocol.StandsRuns
	case !quiet:
		return protocol.StandsOpen
	case class == protocol.SafeStopShellFirst:
		return protocol.StandsBelieved
	}
	return protocol.StandsRuns
}

// believeAfter is how long nothing must be heard.
func (s Settings) believeAfter() time.Duration {
	if d := s.BelieveAfter; d > 0 {
		return d
	}
	return resource.DefaultBelieveAfter
}

// standEvery is how often a server is read while nothing tells where it stands.
const standEvery = 5 * time.Second

// halted says whether a server stands, seen or believed.
func halted(s protocol.Stands) bool {
	return s == protocol.StandsStopped || s == protocol.StandsBelieved
}
