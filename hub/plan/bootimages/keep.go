package bootimages

import (
	"slices"

	"rackboot/protocol/resource"
)

// Keep are the numbers of the revisions of a group that are kept; used are those that a
// boot configuration was made from.
func Keep(g *resource.ServerGroup, history []*resource.GroupRevision, used map[int]bool) map[int]bool {
	numbers := make([]int, 0, len(history))
	for _, r := range history {
		numbers = append(numbers, r.Spec.Number)
	}
	slices.Sort(numbers)
	keep := map[int]bool{}
	for i, n := range numbers {
		newest := len(numbers)-i <= max(g.Spec.HistoryLimit, 2)
		flight := used[n] || g.Status.Pinned != nil && g.Status.Pinned.Revision == n
		if ro := g.Status.Rollout; ro != nil && (!ro.Phase.Over() || ro.Phase == resource.RolloutRolledBack) {
			flight = flight || ro.Revision == n || ro.From == n
		}
		if keepRule(newest, n == g.Status.Revision, n == g.Status.Verified, flight) {
			keep[n] = true
		}
	}
	return keep
}

// keepRule decides. The first row that fits decides.
//
//	newest | current | verified | in flight | kept
//	yes    | *       | *        | *         | yes
//	no     | yes     | *        | *         | yes
//	no     | no      | yes      | *         | yes
//	no     | no      | no       | yes       | yes
//	no     | no      | no       | no        | no
//
// newest is that it is one of the last spec.historyLimit. In flight is that a server was
// given it, that a roll-out goes to it or came from it, also one
// whose servers are returned, or that the group is pinned to it.
func keepRule(newest, current, verified, flight bool) bool {
	return newest || current || verified || flight
}
