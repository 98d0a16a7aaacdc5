package groups

import (
	"cmp"
	"fmt"
	"slices"

	"rackboot/hub/plan/bootimages"
	"rackboot/hub/revisions"
	"rackboot/protocol/resource"
)

// counts are a group's servers by what they boot.
func counts(seen []revisions.Booting, current *resource.GroupRevision) (out resource.GroupCounts) {
	out.Servers = len(seen)
	for _, b := range seen {
		switch {
		case b.Digest == "":
			out.Unknown++
		case current != nil && revisions.HoldsImage(current, b.Digest):
			out.Current++
		default:
			out.Older++
		}
	}
	return out
}

// inUse are the images that a group has in use, for the limit of age: what was seen is
// more than what is recorded.
func inUse(p *revisions.Pass, g *resource.ServerGroup, seen []revisions.Booting, current *resource.GroupRevision) (out []bootimages.InUse) {
	for _, b := range seen {
		if b.Digest != "" {
			out = append(out, bootimages.InUse{Group: g.Metadata.Name, Server: b.Server, Catalogue: g.Spec.Catalogue, Version: p.Versions[b.Digest]})
		}
	}
	if len(out) == 0 && current != nil {
		out = append(out, bootimages.InUse{Group: g.Metadata.Name, Catalogue: g.Spec.Catalogue, Version: current.Spec.Version})
	}
	return out
}

// failing are the servers that were given a group's current revision and do not come up
// with it: what fell back runs, and not as the group says.
func (c *Room) failing(p *revisions.Pass, g *resource.ServerGroup) (out []string) {
	for _, b := range p.Fleet.ConfigsOf(g.Metadata.Name) {
		if b.Spec.Revision != g.Status.Revision || b.Spec.Owner.Kind.Or() != resource.PurposeClaim {
			continue
		}
		r := p.Fleet.Reports[b.Spec.Server]
		if r == nil || r.OwnerUID != b.Spec.Owner.UID {
			continue
		}
		if i := slices.IndexFunc(r.Conditions, func(s resource.ConditionState) bool {
			fell := s.Code == resource.CondFellBack && r.Fallback != nil && r.Fallback.Generation == b.Metadata.Generation
			return fell || s.Code == resource.CondFirstBootFailed || s.Code == resource.CondGrantSpent
		}); i >= 0 {
			out = append(out, fmt.Sprintf("server %s: %s: %s", b.Spec.Server, r.Conditions[i].Code, cmp.Or(r.Conditions[i].Message, "it did not come up with the image")))
		}
	}
	return out
}
