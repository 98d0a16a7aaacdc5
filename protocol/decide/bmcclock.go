package decide

import "time"

// clockDrift is by what part two clocks may drift apart that nobody sets.
const clockDrift = 5000

// clockStep is by how much the BMC's clock was set since it was read before, and how far that may
// be wrong.
type clockStep struct {
	by, slack time.Duration
	known     bool
}

// resetMoved says how a LastResetTime moved that is another one. BMCs which compute it from the
// uptime show another when their clock is set, by hand or by NTP; nothing was reset then. The first
// row that fits decides.
//
//	clock   | corrected | short | moved
//	read    | same      | *     | same
//	read    | earlier   | *     | earlier
//	read    | later     | *     | later
//	unread  | *         | yes   | same
//	unread  | *         | no    | as shown
//
// clock is whether the BMC's own clock was read beside both; corrected is how LastResetTime moved
// without the step of that clock. short is that it moved by less than it was seen to stand still:
// a reset since the last read would have moved it by more.
func resetMoved(read bool, corrected, shown moved, short bool) moved {
	switch {
	case read:
		return corrected
	case short:
		return movedSame
	}
	return shown
}
