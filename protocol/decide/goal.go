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

// goal weighs who wants what. The first row that fits decides.
//
//	synced | held | releasing | reboot | want | goal
//	no     | yes  | *         | *      | *    | keep-off
//	no     | no   | *         | *      | *    | leave
//	yes    | yes  | *         | *      | *    | keep-off
//	yes    | no   | yes       | *      | *    | stop
//	yes    | no   | no        | yes    | On   | stop
//	yes    | no   | no        | *      | Off  | stop
//	yes    | no   | no        | no     | On   | run
//	yes    | no   | no        | *      | none | leave
//
// A hold counts even before the agent has synced: it is on the agent's own disk
// (P1). A reboot is a stop until the server was read Off; then it no longer
// counts here, and On makes the server run again.
func goal(synced, held, releasing, reboot bool, want protocol.Power) Goal {
	switch {
	case held:
		return GoalKeepOff
	case !synced:
		return GoalLeave
	case releasing:
		return GoalStop
	case want == protocol.WantOff:
		return GoalStop
	case want == protocol.WantOn && reboot:
		return GoalStop
	case want == protocol.WantOn:
		return GoalRun
	default:
		return GoalLeave
	}
}
