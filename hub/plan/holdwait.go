package plan

// HoldWaits says whether a hold that was not sent yet waits for another document: one
// that was placed after firmware work was marked could be at the agent before the mark,
// and the server would be stopped in the middle of the work.
//
//	firmware work | forced | the agent knows of it | outcome
//	no            | *      | *                     | goes
//	yes           | yes    | *                     | goes
//	yes           | no     | yes                   | goes
//	yes           | no     | no                    | waits
func HoldWaits(work, forced, known bool) bool { return work && !forced && !known }
