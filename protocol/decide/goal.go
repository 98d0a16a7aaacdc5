package decide

import "rackboot/protocol"

// Goal is where a server is to be brought.
type Goal string

// The goals.
const (
	GoalLeave   Goal = "leave"    // nobody wants anything of its power
	GoalKeepOff Goal = "keep-off" // held: off, and proved to be off
	GoalStop    Goal = "stop"     // off, for a claim's end, its power, or a reboot
	GoalRun     Goal = "run"      // on, booted as the claim prescribes
)

// asked is what one-shot requests ask of a server's power.
type asked string

const (
	askedNothing asked = "nothing"
	askedReboot  asked = "reboot"
	askedOff     asked = "off"
)

// goal weighs who wants what. The first row that fits decides.
//
//	synced | held | releasing | asked  | want | goal
//	no     | yes  | *         | *      | *    | keep-off
//	no     | no   | *         | *      | *    | leave
//	yes    | yes  | *         | *      | *    | keep-off
//	yes    | no   | yes       | *      | *    | stop
//	yes    | no   | no        | reboot | On   | stop
//	yes    | no   | no        | *      | Off  | stop
//	yes    | no   | no        | *      | On   | run
//	yes    | no   | no        | off    | none | stop
//	yes    | no   | no        | *      | none | leave
//
// A hold counts even before the agent has synced: it is on the agent's own disk
// (P1). A request is a stop until the server was read Off; then it no longer
// counts here, and On makes the server run again. A power-off never works against
// a claim that wants the server On.
func goal(synced, held, releasing bool, a asked, want protocol.Power) Goal {
	switch {
	case held:
		return GoalKeepOff
	case !synced:
		return GoalLeave
	case releasing:
		return GoalStop
	case want == protocol.WantOff:
		return GoalStop
	case want == protocol.WantOn && a == askedReboot:
		return GoalStop
	case want == protocol.WantOn:
		return GoalRun
	case a == askedOff:
		return GoalStop
	default:
		return GoalLeave
	}
}
