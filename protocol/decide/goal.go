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
	GoalHalt    Goal = "halt"     // frozen: nothing switches it on, restarts or arms it
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
//	synced | held   | work | releasing | asked   | want | taken | frozen | goal
//	*      | forced | *    | *         | *       | *    | *     | *      | keep-off
//	*      | *      | yes  | *         | *       | *    | *     | *      | wait
//	*      | yes    | no   | *         | *       | *    | *     | *      | keep-off
//	no     | no     | no   | *         | *       | *    | *     | *      | leave
//	yes    | no     | no   | yes       | *       | *    | *     | *      | stop
//	yes    | no     | no   | no        | *       | Off  | *     | *      | stop
//	yes    | no     | no   | no        | *       | On   | yes   | *      | leave
//	yes    | no     | no   | no        | *       | On   | no    | yes    | halt
//	yes    | no     | no   | no        | reboot  | On   | no    | no     | stop
//	yes    | no     | no   | no        | *       | On   | no    | no     | run
//	yes    | no     | no   | no        | nothing | none | *     | *      | leave
//	yes    | no     | no   | no        | *       | none | *     | *      | stop
//
// A freeze takes back only what would switch the server on, now or after a stop: a reboot is not begun, and stops that
// somebody asks for are done.
//
// taken is a rack that was taken over while holds that were placed at the agent before are not
// known: what is Off may be held, and is not switched on; what runs is left.
//
// Work on a server's firmware makes everything wait but a hold that says otherwise:
// a stop in the middle of it can break the board. A hold counts even before the agent has synced: it is on the agent's own disk
// (P1). A request is a stop until the server was read Off; then it no longer
// counts here, and On makes the server run again. A power-off never works against
// a claim that wants the server On.
func goal(f goalFacts) Goal { return verdict(goalRules, f) }

// goalFacts is who wants what.
type goalFacts struct {
	synced    bool
	held      holding
	work      bool // firmware work is marked now
	releasing bool // the claim ends
	asked     asked
	want      resource.Power
	taken     bool // and holds of the agent before are not known
	frozen    bool // a freeze lies on it now
}

var goalRules = []rule[goalFacts, Goal]{
	{"a hold that also stops during firmware work", func(f goalFacts) bool { return f.held == holdsForced }, GoalKeepOff},
	{"firmware work", func(f goalFacts) bool { return f.work }, GoalWait},
	{"a hold", func(f goalFacts) bool { return f.held == holdsPlain }, GoalKeepOff},
	{"no document was applied yet", func(f goalFacts) bool { return !f.synced }, GoalLeave},
	{"the claim ends", func(f goalFacts) bool { return f.releasing }, GoalStop},
	{"the claim wants the server Off", func(f goalFacts) bool { return f.want == resource.WantOff }, GoalStop},
	{"a rack that was taken over", func(f goalFacts) bool { return f.want == resource.WantOn && f.taken }, GoalLeave},
	{"a freeze", func(f goalFacts) bool { return f.want == resource.WantOn && f.frozen }, GoalHalt},
	{"a reboot under a claim", func(f goalFacts) bool { return f.want == resource.WantOn && f.asked == askedReboot }, GoalStop},
	{"the claim wants the server On", func(f goalFacts) bool { return f.want == resource.WantOn }, GoalRun},
	{"a one-shot without a claim", func(f goalFacts) bool { return f.asked != askedNothing }, GoalStop},
	{"nobody wants anything", func(goalFacts) bool { return true }, GoalLeave},
}
