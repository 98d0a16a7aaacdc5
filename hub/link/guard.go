package link

import "time"

// guardWord is what a Hello says of guard mode, against what is known.
type guardWord string

const (
	guardNone   guardWord = "none"   // nothing: it is not in guard mode, as far as is known
	guardSays   guardWord = "says"   // it is
	guardUnsure guardWord = "unsure" // it is not any more, or this was said before
	guardOver   guardWord = "over"   // it was, and this was said after
)

// guardRule compares a Hello with what is known. The first row that fits decides.
//
//	says | known | after | word
//	yes  | *     | *     | says
//	no   | no    | *     | none
//	no   | yes   | yes   | over
//	no   | yes   | no    | unsure
//
// after is that its nonce was given after the agent's last word of guard mode: whatever the agent
// said before that can come late, or be played back.
func guardRule(says, known, after bool) guardWord {
	switch {
	case says:
		return guardSays
	case !known:
		return guardNone
	case after:
		return guardOver
	}
	return guardUnsure
}

// guarding is what is known of an agent's guard mode: since when. Zero is that it is in none.
type guarding struct{ since time.Time }

func (g guarding) known() bool { return !g.since.IsZero() }
