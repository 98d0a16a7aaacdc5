package bootimages

import "rackboot/protocol/resource"

// Older is the revision that a group returns to: that of a number, or with 0 the last one before
// the current that is verified, boots another image and is of no entry that the group rejects.
// skipped are the numbers of those that would have been it but for that. nil is that there is
// none.
func Older(history []*resource.GroupRevision, g *resource.ServerGroup, number int) (found *resource.GroupRevision, skipped []int) {
	value := ""
	for _, r := range history {
		if r.Spec.Number == g.Status.Revision {
			value = Value(r.Spec.Images)
		}
	}
	for _, r := range history { // in order of number
		_, rejected := g.Status.Rejected[r.Spec.BootImage]
		switch olderRule(number != 0, r.Spec.Number == number, r.Spec.Number < g.Status.Revision, r.Status.Verified, Value(r.Spec.Images) != value, rejected) {
		case olderTake:
			found, skipped = r, nil // what was skipped before it was not newer
		case olderSkip:
			skipped = append(skipped, r.Spec.Number)
		case olderNo:
		}
	}
	return found, skipped
}

type older string

const (
	olderTake older = "take"
	olderSkip older = "skip"
	olderNo   older = "no"
)

// olderRule says whether one may return to a revision; the newest that may be taken is. The
// first row that fits decides.
//
//	named | is it | before | verified | another | rejected | answer
//	yes   | yes   | *      | *        | *       | *        | take
//	yes   | no    | *      | *        | *       | *        | no
//	no    | *     | no     | *        | *       | *        | no
//	no    | *     | yes    | no       | *       | *        | no
//	no    | *     | yes    | yes      | no      | *        | no
//	no    | *     | yes    | yes      | yes     | yes      | skip
//	no    | *     | yes    | yes      | yes     | no       | take
//
// before is that it is older than the current one, another that it boots another image than
// that. Who names a revision means it, rejected or not.
func olderRule(named, is, before, verified, another, rejected bool) older {
	switch {
	case named && is:
		return olderTake
	case named, !before, !verified, !another:
		return olderNo
	case rejected:
		return olderSkip
	}
	return olderTake
}
