package decide

import "time"

// hintEvery is how far apart two hints of the same kind are of which both are looked at.
const hintEvery = 10 * time.Second

// stirsRule says whether evidence that was folded in asks for a read of the BMC. The first row
// that fits decides.
//
//	record | happened | hint | read
//	yes    | *        | *    | yes
//	no     | yes      | *    | yes
//	no     | no       | yes  | yes
//	no     | no       | no   | no
//
// record is that it changed what is on disk: how far the attempt has come, or what is known of
// the server. hint is that something was heard of the server that tells where it stands, not
// just after the same was heard.
func stirsRule(record, happened, hint bool) bool { return record || happened || hint }

// Stirs says so of a passive plan. was is the watch before it.
func Stirs(p Plan, was Watch) bool {
	hint := false
	for _, h := range [][2]time.Time{{was.Image, p.Watch.Image}, {was.Asked, p.Watch.Asked}, {was.Heard, p.Watch.Heard}} {
		hint = hint || h[1].Sub(h[0]) >= hintEvery
	}
	return stirsRule(p.Persist, len(p.Happened) > 0, hint)
}
