package store

import "rackboot/protocol/resource"

// immutable refuses a change of an entry of the catalogue: groups, revisions and stamps
// mean what it says now.
func (c *checker) immutable(i int, old, next *resource.BootImage) {
	if old.Digest() != next.Digest() {
		c.add(i, "spec", "version %s of catalogue %s is there with another content, and an entry never changes; give the new content a version of its own, or another catalogue; rackctl delete bootimage %s takes out an entry that nothing uses",
			old.Spec.Version, old.Spec.Catalogue, old.Metadata.Name)
	}
}

// versions wants each version once in its catalogue: of two that are equal none would be
// the newest. What collides is reported at the object of the set.
func (c *checker) versions(items []applyItem) {
	type entry struct {
		name    string
		version resource.ImageVersion
	}
	by := map[string][]entry{} // catalogue -> its entries so far
	inSet := map[string]bool{}
	for _, it := range items {
		if b, ok := it.next.(*resource.BootImage); ok {
			inSet[b.Metadata.Name] = true
		}
	}
	stored := func(catalogue string) (out []entry) {
		for _, b := range Find(c.sets.objects, BootImagesByCatalogue, catalogue) {
			if v, err := resource.ParseImageVersion(b.Spec.Version); err == nil && !inSet[b.Metadata.Name] {
				out = append(out, entry{b.Metadata.Name, v})
			}
		}
		return out
	}
	for i, it := range items {
		b, ok := it.next.(*resource.BootImage)
		if !ok {
			continue
		}
		v, err := resource.ParseImageVersion(b.Spec.Version)
		if err != nil {
			continue // Validate says so
		}
		if _, begun := by[b.Spec.Catalogue]; !begun {
			by[b.Spec.Catalogue] = stored(b.Spec.Catalogue)
		}
		for _, other := range by[b.Spec.Catalogue] {
			if other.name != b.Metadata.Name && v.Compare(other.version) == 0 {
				c.add(i, "spec.version", "%s is the version of BootImage %q in catalogue %s already", b.Spec.Version, other.name, b.Spec.Catalogue)
			}
		}
		by[b.Spec.Catalogue] = append(by[b.Spec.Catalogue], entry{b.Metadata.Name, v})
	}
}
