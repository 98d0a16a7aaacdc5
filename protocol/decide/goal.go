package decide

import "rackboot/protocol/resource"

// Goal is where a server is to be brought.
type Goal string

// The goals.
const (
	GoalLeave   Goal = "leave"    // nobody wants anything of its power
	GoalKeepOff Goal = "keep-off" // held: off, and proved to be off
	GoalStop    Goal = "stop"     // off, for a claim's end, its power, or a reboot
	GoalRun     Goal = "run"      // on, booted as the claim prescribes
	GoalWait    Goal = "wait"     // nothing is sent while its firmware is changed
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
//	synced | held   | work | releasing | asked   | want | goal
//	*      | forced | *    | *         | *       | *    | keep-off
//	*      | *      | yes  | *         | *       | *    | wait
//	*      | yes    | no   | *         | *       | *    | keep-off
//	no     | no     | no   | *         | *       | *    | leave
//	yes    | no     | no   | yes       | *       | *    | stop
//	yes    | no     | no   | no        | reboot  | On   | stop
//	yes    | no     | no   | no        | *       | Off  | stop
//	yes    | no     | no   | no        | *       | On   | run
//	yes    | no     | no   | no        | nothing | none | leave
//	yes    | no     | no   | no        | *       | none | stop
//
// Work on a server's firmware makes everything wait but a hold that says otherwise:
// a stop in the middle of it can break the board. A hold counts even before the agent has synced: it is on the agent's own disk
// (P1). A request is a stop until the server was read Off; then it no longer
// counts here, and On makes the server run again. A power-off never works against
// a claim that wants the server On.
func goal(synced bool, held holding, work, releasing bool, a asked, want resource.Power) Goal {
	switch {
	case held == holdsForced:
		return GoalKeepOff
	case work:
		return GoalWait
	case held == holdsPlain:
		return GoalKeepOff
	case !synced:
		return GoalLeave
	case releasing:
		return GoalStop
	case want == resource.WantOff:
		return GoalStop
	case want == resource.WantOn && a == askedReboot:
		return GoalStop
	case want == resource.WantOn:
		return GoalRun
	case a != askedNothing:
		return GoalStop
	default:
		return GoalLeave
	}
}
