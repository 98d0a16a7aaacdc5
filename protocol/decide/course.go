package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// whoseAttempt is whose the attempt is that the record has.
type whoseAttempt string

const (
	attemptNobodys whoseAttempt = "none" // there is no attempt
	attemptOurs    whoseAttempt = "ours" // the intent's owner's
	attemptOthers  whoseAttempt = "other"
)

// courseFacts is what matters of the attempt that the record has, of a server that is to run.
type courseFacts struct {
	attempt    whoseAttempt
	open       bool
	strange    bool // the server shows another identity
	halts      bool // something is still to be sent that must not go to another server
	unapproved bool // it needs an approval and has none
	superseded bool // its owner names another boot by now
	diverted   bool // somebody may have the server run what reads its config image
	late       bool // firmware took the override after all
}

// course is what becomes of that attempt.
type course string

const (
	courseOwner      course = "end: owner"
	courseIdentity   course = "end: identity"
	courseApproval   course = "end: approval"
	courseSuperseded course = "end: superseded"
	courseDiverted   course = "end: diverted"
	courseAdvance    course = "advance"
	courseLate       course = "take late"
	courseHandOver   course = "hand over"
	courseTidy       course = "tidy"
)

// courseRule says what becomes of the attempt that the record has. The first row that fits
// decides.
//
//	attempt | open | strange | halts | unapproved | superseded | diverted | late | then
//	other   | yes  | *       | *     | *          | *          | *        | *    | end: owner
//	other   | no   | *       | *     | *          | *          | *        | *    | hand over
//	ours    | yes  | yes     | yes   | *          | *          | *        | *    | end: identity
//	ours    | yes  | *       | yes   | yes        | *          | *        | *    | end: approval
//	ours    | yes  | *       | *     | *          | yes        | *        | *    | end: superseded
//	ours    | yes  | *       | *     | *          | *          | yes      | *    | end: diverted
//	ours    | yes  | *       | *     | *          | *          | *        | *    | advance
//	ours    | no   | *       | *     | *          | *          | *        | yes  | take late
//	*       | *    | *       | *     | *          | *          | *        | *    | tidy
//
// An attempt that came to run is watched to its end, whatever the server shows and whoever
// approved it: nothing more is sent for it.
func courseRule(f courseFacts) course { return verdict(courseRules, f) }

var courseRules = []rule[courseFacts, course]{
	{"another owner's attempt is open", func(f courseFacts) bool { return f.attempt == attemptOthers && f.open }, courseOwner},
	{"another owner's attempt is over", func(f courseFacts) bool { return f.attempt == attemptOthers }, courseHandOver},
	{"the server shows another identity", func(f courseFacts) bool { return f.mayHalt() && f.strange }, courseIdentity},
	{"the boot has no approval", func(f courseFacts) bool { return f.mayHalt() && f.unapproved }, courseApproval},
	{"the owner names another boot", func(f courseFacts) bool { return f.isOpen() && f.superseded }, courseSuperseded},
	{"its server may load another file", func(f courseFacts) bool { return f.isOpen() && f.diverted }, courseDiverted},
	{"the attempt is open", courseFacts.isOpen, courseAdvance},
	{"firmware took the override late", func(f courseFacts) bool { return f.attempt == attemptOurs && f.late }, courseLate},
	{"nothing is under way", func(courseFacts) bool { return true }, courseTidy},
}

func (f courseFacts) isOpen() bool { return f.attempt == attemptOurs && f.open }

// mayHalt reports whether the attempt is open and still has something to send.
func (f courseFacts) mayHalt() bool { return f.isOpen() && f.halts }

// halts says whether an attempt still has something to send that must not be sent to
// another server. One that came to run is watched to its end.
func (a *Attempt) halts(power protocol.PowerState) bool {
	switch a.Stage.State {
	case resource.AttemptPreparing, resource.AttemptArmed:
		return true
	case resource.AttemptPowerRequested:
		return power == protocol.PowerOff
	case resource.AttemptConsumed, resource.AttemptFetched, resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return false
}

// leftIs is how what was left at a BMC is to be cleared.
type leftIs string

const (
	leftNothing leftIs = "nothing" // or it is not the time for it
	leftGone    leftIs = "gone"    // nothing is left of it, or it is another party's
	leftDue     leftIs = "due"
)

// tidyFacts is what a failed attempt left.
type tidyFacts struct {
	failed    bool
	cleanup   bool // what it left running is to be stopped
	off       bool
	pending   bool // an On of ours may still take effect
	abandoned bool
	override  leftIs
}

// tidies is what to do about it.
type tidies string

const (
	tidyNothing tidies = "nothing"
	tidyWait    tidies = "wait"
	tidyStopped tidies = "note stopped"
	tidyStop    tidies = "stop"
	tidyForce   tidies = "force"
	tidyDisarm  tidies = "disarm"
	tidyGone    tidies = "note gone"
)

// tidyRule says how what a failed attempt left is cleared: a server that runs what the attempt
// could not complete, and then an override that nothing consumed. The first row that fits
// decides.
//
//	failed | cleanup | off | pending | abandoned | override | then
//	no     | *       | *   | *       | *         | *        | nothing
//	yes    | yes     | yes | yes     | *         | *        | wait
//	yes    | yes     | yes | no      | *         | *        | note stopped
//	yes    | yes     | no  | *       | yes       | *        | stop
//	yes    | yes     | no  | *       | no        | *        | force
//	yes    | no      | *   | *       | *         | due      | disarm
//	yes    | no      | *   | *       | *         | gone     | note gone
//	yes    | no      | *   | *       | *         | nothing  | nothing
func tidyRule(f tidyFacts) tidies { return verdict(tidyRules, f) }

var tidyRules = []rule[tidyFacts, tidies]{
	{"no attempt failed", func(f tidyFacts) bool { return !f.failed }, tidyNothing},
	{"it may come on yet", func(f tidyFacts) bool { return f.cleanup && f.off && f.pending }, tidyWait},
	{"it is stopped", func(f tidyFacts) bool { return f.cleanup && f.off }, tidyStopped},
	{"its end was wanted", func(f tidyFacts) bool { return f.cleanup && f.abandoned }, tidyStop},
	{"it runs what failed", func(f tidyFacts) bool { return f.cleanup }, tidyForce},
	{"its override is armed", func(f tidyFacts) bool { return f.override == leftDue }, tidyDisarm},
	{"its override is gone", func(f tidyFacts) bool { return f.override == leftGone }, tidyGone},
	{"it left nothing", func(tidyFacts) bool { return true }, tidyNothing},
}

// handOverFacts is what the owner before left of a server.
type handOverFacts struct {
	taken    bool // it runs for that owner, and is stopped
	power    running
	stopping bool
	pending  bool // an On of ours may still take effect
	override leftIs
	rearm    leftIs
	armed    bool // an override of that owner is to be cleared at Off
}

// handsOver is what to do about it.
type handsOver string

const (
	handStop    handsOver = "stop"
	handEndStop handsOver = "end stop"
	handWait    handsOver = "wait"
	handDisarm  handsOver = "disarm"
	handGone    handsOver = "note gone"
	handRearm   handsOver = "drop rearm"
	handOn      handsOver = "say it is On"
	handLook    handsOver = "look"
	handForget  handsOver = "forget"
)

// handOverRule says how a server is handed over from the owner before. The first row that fits
// decides.
//
//	taken | power | stopping | pending | override | rearm | armed | then
//	yes   | *     | *        | *       | *        | *     | *     | stop
//	no    | off   | yes      | *       | *        | *     | *     | end stop
//	no    | off   | no       | yes     | *        | *     | *     | wait
//	no    | off   | no       | no      | due      | *     | *     | disarm
//	no    | off   | no       | no      | gone     | *     | *     | note gone
//	no    | off   | no       | no      | nothing  | due   | *     | drop rearm
//	no    | off   | no       | no      | nothing  | gone  | *     | drop rearm
//	no    | on    | *        | *       | *        | *     | yes   | say it is On
//	no    | other | *        | *       | *        | *     | *     | look
//	no    | *     | *        | *       | *        | *     | *     | forget
func handOverRule(f handOverFacts) handsOver { return verdict(handOverRules, f) }

var handOverRules = []rule[handOverFacts, handsOver]{
	{"it runs for the owner before", func(f handOverFacts) bool { return f.taken }, handStop},
	{"it was being stopped", func(f handOverFacts) bool { return f.power == isOff && f.stopping }, handEndStop},
	{"it may come on yet", func(f handOverFacts) bool { return f.power == isOff && f.pending }, handWait},
	{"an override is armed", func(f handOverFacts) bool { return f.power == isOff && f.override == leftDue }, handDisarm},
	{"an override is gone", func(f handOverFacts) bool { return f.power == isOff && f.override == leftGone }, handGone},
	{"the disk was armed for restarts", func(f handOverFacts) bool { return f.power == isOff && f.rearm != leftNothing }, handRearm},
	{"an override is cleared at Off", func(f handOverFacts) bool { return f.power == isOn && f.armed }, handOn},
	{"its power is not settled", func(f handOverFacts) bool { return f.power == isOther }, handLook},
	{"nothing is left", func(handOverFacts) bool { return true }, handForget},
}
