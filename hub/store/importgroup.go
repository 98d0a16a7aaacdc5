package store

import (
	"maps"

	"rackboot/protocol/resource"
)

// sameRevision says whether two are the same line of one history. The user data is left
// out: the Secret here is another one than at the hub that it came from.
func sameRevision(a, b resource.GroupRevisionSpec) bool {
	digest := func(i resource.Image) string { return i.Digest }
	return a.Group == b.Group && a.GroupUID == b.GroupUID && a.Number == b.Number && a.At.Equal(b.At) && a.BootImageDigest == b.BootImageDigest &&
		maps.EqualFunc(a.Images, b.Images, func(x, y resource.Image) bool { return digest(x) == digest(y) })
}

// histories checks what only imports bring of groups: revisions, which are those of a group
// that is here or imported, with the UID that it has.
func (c *checker) histories(items []applyItem) {
	groups := map[string]*resource.ServerGroup{} // of the set
	for _, it := range items {
		if g, ok := it.next.(*resource.ServerGroup); ok {
			groups[g.Metadata.Name] = g
		}
	}
	for i, it := range items {
		c.judge(&items[i])
		switch o := it.next.(type) {
		case *resource.GroupRevision:
			g := groups[o.Spec.Group]
			if g == nil {
				g, _ = c.stored(resource.KindServerGroup, o.Spec.Group).(*resource.ServerGroup)
			}
			switch {
			case o.Spec.Number < 1 || o.Metadata.Name != resource.GroupRevisionName(o.Spec.Group, o.Spec.Number):
				c.add(i, "metadata.name", "is not that of revision %d of group %q", o.Spec.Number, o.Spec.Group)
			case g == nil || g.Metadata.UID != o.Spec.GroupUID:
				c.add(i, "spec.group", "group %q, with that uid, is neither here nor imported", o.Spec.Group)
			}
		case *resource.ServerGroup:
			if s := o.Status; s.Revision < 0 || s.Verified < 0 || s.Verified > s.Revision {
				c.add(i, "status.revision", "%d, of which %d is verified, are no numbers of revisions", s.Revision, s.Verified)
			}
		}
	}
}
