package bootimages

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Between are the revisions of a group that are compared: to is the current one where it is 0, and from then the one
// before to.
//
// Errors: conflict where there is nothing to compare; not_found for a number that the history has not.
func Between(g *resource.ServerGroup, history []*resource.GroupRevision, from, to int) (a, b *resource.GroupRevision, err error) {
	const op = "compare revisions"
	name := g.Metadata.Name
	by := map[int]*resource.GroupRevision{}
	for _, r := range history {
		by[r.Spec.Number] = r
	}
	if to == 0 {
		to = g.Status.Revision
	}
	if to == 0 {
		return nil, nil, protocol.Errorf(protocol.CodeConflict, op, "group %q has no revision yet", name).
			WithHint("rackctl describe servergroup %s says what its first waits for", name)
	}
	if from == 0 && by[to] != nil {
		from = by[to].Spec.Parent
		if from == 0 {
			return nil, nil, protocol.Errorf(protocol.CodeConflict, op, "revision %d of group %q is its first: there is none before it to compare with", to, name).
				WithHint("rackctl describe grouprevision %s shows it", resource.GroupRevisionName(name, to))
		}
	}
	for _, n := range []int{from, to} {
		if by[n] == nil {
			return nil, nil, protocol.Errorf(protocol.CodeNotFound, op, "group %q has no revision %d", name, n).WithHint("rackctl group history %s", name)
		}
	}
	return by[from], by[to], nil
}
