package plan

import "time"

const (
	// readAgain is how old an inventory becomes before it is read again.
	readAgain = 24 * time.Hour
	// firstPause and longestPause bound the wait after a reading that failed. It
	// doubles.
	firstPause   = 30 * time.Second
	longestPause = 30 * time.Minute
)

// Reading is how far the reading of a BMC's inventory has come.
type Reading struct {
	Open    bool      // it was asked for, and the answer may come
	Failed  int       // readings in a row that failed, or had no answer
	Ended   time.Time // of the last one
	Read    time.Time // of the inventory that there is; zero is none
	Changed time.Time // when a server behind the BMC had another identity, or was seen to be set otherwise; zero is never
	Lacks   bool      // something is wanted that was not asked for yet
}

// Due is when the inventory is to be asked for; never is not ok.
//
//	open | failed | read | changed since | lacks | due
//	yes  | *      | *    | *             | *     | never
//	no   | yes    | *    | *             | *     | after a pause
//	no   | no     | no   | *             | *     | at once
//	no   | no     | yes  | yes           | *     | at once
//	no   | no     | yes  | no            | yes   | at once
//	no   | no     | yes  | no            | no    | a day later
func (r Reading) Due() (at time.Time, ok bool) {
	switch r.due() {
	case dueNever:
		return time.Time{}, false
	case dueAfterPause:
		return r.Ended.Add(pauseAfter(r.Failed)), true
	case dueLater:
		return r.Read.Add(readAgain), true
	case dueAtOnce:
	}
	return time.Time{}, true
}

type due string

const (
	dueNever      due = "never"
	dueAfterPause due = "after a pause"
	dueAtOnce     due = "at once"
	dueLater      due = "a day later"
)

func (r Reading) due() due {
	switch {
	case r.Open:
		return dueNever
	case r.Failed > 0:
		return dueAfterPause
	case r.Read.IsZero() || r.Changed.After(r.Read) || r.Lacks:
		return dueAtOnce
	}
	return dueLater
}

func pauseAfter(failed int) time.Duration {
	pause := firstPause
	for range failed - 1 {
		if pause *= 2; pause >= longestPause {
			return longestPause
		}
	}
	return pause
}
