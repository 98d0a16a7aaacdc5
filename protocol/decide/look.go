package decide

import "time"

// Where a ForceOff is expected to show soon, the server is read again after a pause as
// long as the last read took: a BMC is asked for half of its time at most. Never
// sooner than lookMin, for BMCs that answer at once, and never later than
// activeInterval. A BMC that answers in 50 to 400 ms (measured at eight vendors') is
// so read 10 times a second at most, and mostly one to five times.
const lookMin = 50 * time.Millisecond

// lookPace is how closely a stop is watched.
type lookPace string

const (
	lookClose lookPace = "close" // as fast as the BMC answers
	lookCalm  lookPace = "calm"  // every activeInterval
)

// closely says how closely a stop is watched. The first row that fits decides.
//
//	stage    | first | pace
//	forced   | yes   | close
//	*        | *     | calm
//
// A ForceOff takes effect within seconds, and whoever waits for the proof waits for
// that read. One that had no effect within resendForce is sent again, and what the
// BMC makes of that is no longer a matter of seconds. A soft stop takes as long as an
// operating system does.
func closely(st stage, first bool) lookPace {
	if st == stageForced && first {
		return lookClose
	}
	return lookCalm
}
