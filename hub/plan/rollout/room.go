package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// room is how many servers may be taken out of service now.
type room struct {
	of   Words
	most int
	down []string // who is out of service, by name
	bad  bool     // the share cannot be read: there is no room
}

// roomOf counts who is out of service: every claimed server that does not serve, whatever
// the reason, and those that were ordered down and still seem up.
func roomOf(of Words, share resource.Share, servers map[string]Server, members map[string]resource.RolloutMember) room {
	most, ok := share.Of(len(servers))
	if strings.HasSuffix(string(share), "%") {
		most = max(most, 1)
	}
	r := room{of: of, most: most, bad: !ok || most == 0}
	if r.bad {
		r.most = 0
	}
	for name, s := range servers {
		state := members[name].State
		if !s.Up || state == resource.MemberBegun || state == resource.MemberReturning {
			r.down = append(r.down, name)
		}
	}
	return r
}

// left reports whether a server may be taken: one that is out already, since it was ordered down before, takes no
// more room than it has.
func (r *room) left(name string) bool {
	return len(r.down) < r.most || !r.bad && len(r.down) == r.most && slices.Contains(r.down, name)
}

// enough says whether there is room for those who are out already, with whom somebody may
// have held more since there was.
func (r *room) enough() bool { return len(r.down) <= r.most }

func (r *room) free(name string) {
	r.down = slices.DeleteFunc(r.down, func(n string) bool { return n == name })
}

func (r *room) take(name string) {
	if !slices.Contains(r.down, name) {
		r.down = append(r.down, name)
	}
}

func (r *room) why(share resource.Share) string {
	if r.bad {
		return fmt.Sprintf("spec.rollout.maxUnavailable %q is neither a count nor percent, so there is no room", share)
	}
	return fmt.Sprintf("%d %s are out of service, and at most %d may be: %s", len(r.down), r.of.members(), r.most, names(r.down))
}

// names lists a few names.
func names(all []string) string {
	const few = 3
	slices.Sort(all)
	if len(all) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:few], ", "), len(all)-few)
	}
	return strings.Join(all, ", ")
}

// spread orders servers so that each next one is of another rack as long as there are
// any: what a rack does wrong with all of its servers is then seen early, and few of one
// are down together.
func spread(servers map[string]Server, of []string) []string {
	type seat struct {
		name, rack string
		rank       int // among those of its rack
	}
	slices.Sort(of)
	seats := make([]seat, len(of))
	seen := map[string]int{}
	for i, name := range of {
		rack := servers[name].Rack
		seats[i] = seat{name, rack, seen[rack]}
		seen[rack]++
	}
	slices.SortFunc(seats, func(a, b seat) int {
		return cmp.Or(a.rank-b.rank, strings.Compare(a.rack, b.rack), strings.Compare(a.name, b.name))
	})
	for i, t := range seats {
		of[i] = t.name
	}
	return of
}

// sorted are the members' names.
func (r *run) sorted() []string { return slices.Sorted(maps.Keys(r.st.Members)) }
