package decide

import "time"

// A LastResetTime that moved by less than resetSlack is the same: some BMCs compute
// it from the uptime at each read. What an order of ours caused shows within
// resetQuiet, which is POST of a large server, with resets of its own.
const (
	resetSlack = 10 * time.Second
	resetQuiet = consumeTimeout
)

// usableReset is the earliest time that a BMC with a clock can mean: the zeros and
// the 1970 that are shown for want of one are not compared.
func usableReset() time.Time { return time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC) }

// resetTime reads a LastResetTime; zero if it is none.
func resetTime(word string) time.Time {
	if word == "" {
		return time.Time{} // most BMCs have none, and an error costs more than the look
	}
	t, err := time.Parse(time.RFC3339, word)
	if err != nil || t.Before(usableReset()) {
		return time.Time{}
	}
	return t.UTC()
}

// moved is how a LastResetTime compares with the one before.
type moved string

const (
	movedFirst   moved = "first"   // one of the two is no time
	movedSame    moved = "same"    // but for the slack
	movedEarlier moved = "earlier" // the BMC's clock was set, or began again
	movedLater   moved = "later"
)

func movedOf(before, now time.Time) moved { return movedBy(before, now, resetSlack) }

func movedBy(before, now time.Time, slack time.Duration) moved {
	switch d := now.Sub(before); {
	case before.IsZero() || now.IsZero():
		return movedFirst
	case d.Abs() < slack:
		return movedSame
	case d < 0:
		return movedEarlier
	}
	return movedLater
}

// resetRule says whether a read shows that the server was reset, or came on and went
// off, since the read before. The first row that fits decides.
//
//	moved   | transition | order | answer
//	first   | *          | *     | no
//	same    | *          | *     | no
//	earlier | *          | *     | no
//	later   | seen       | *     | no
//	later   | none       | ours  | no
//	later   | none       | none  | yes
//
// A transition that the read itself shows is judged by that. An order of ours is a
// stop or an On that was sent lately, or an attempt under way.
func resetRule(m moved, transition, ours bool) bool {
	return m == movedLater && !transition && !ours
}
