package decide

// lingerRule says whether a stop that nobody wants any more is kept, because it may show
// yet. The first row that fits decides.
//
//	sent | off | in time | kept
//	no   | *   | *       | no
//	yes  | yes | *       | no
//	yes  | no  | no      | no
//	yes  | no  | yes     | yes
//
// What was sent to a BMC cannot be called back, so that an Off by it is no surprise. off is
// that the last read showed Off; in time is that it was begun before the order must have
// shown.
func lingerRule(sent, off, inTime bool) bool { return sent && !off && inTime }
