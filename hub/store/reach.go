package store

import "rackboot/protocol/resource"

// boots refuses a first boot that does not come to the server.
func (c *checker) boots(i int, path, server string, f resource.FirstBoot, lookup func(resource.Kind, string) resource.Object) {
	s, ok := lookup(resource.KindServer, server).(*resource.Server)
	if !ok {
		return // a dangling reference is refused as one
	}
	seg, _ := lookup(resource.KindSegment, s.Spec.SegmentRef.Name).(*resource.Segment)
	if why := s.CannotBoot(f, seg); why != "" {
		c.add(i, path, "%s: %s", f, why)
	}
}

// boots says whether a claim is to boot something else than it was. One that stays as it
// is is not refused because its server or segment is otherwise by now.
func boots(it applyItem, next *resource.Claim) bool {
	if it.old == nil {
		return true
	}
	old := it.old.(*resource.Claim)
	return old.Spec.ServerRef == nil || *old.Spec.ServerRef != *next.Spec.ServerRef || !old.Spec.BootPolicy.Same(next.Spec.BootPolicy)
}
