package store

import (
	"context"
	"maps"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

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
		for _, b := range Find(c.store, BootImagesByCatalogue, catalogue) {
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

// bootImageUsers names what of the hub's own keeps an entry: what servers boot. Revisions of
// groups have its images themselves, and the files of those stay (see [Store.HubFiles]): a
// catalogue that is set back loses entries, and groups follow it.
func (s *Store) bootImageUsers(name string) []string {
	var who []string
	for _, b := range Find(s, ConfigsByBootImage, name) {
		who = append(who, "BootConfiguration/"+b.Metadata.Name)
	}
	return who
}

// PutVerified writes what was proved of files of an entry, beside what is there. uid is
// that of the entry that was judged: another one of the name is not_found. The codes are
// not_found, conflict (after other writers won [writeTries] times), unavailable and timeout.
func (s *Store) PutVerified(ctx context.Context, name, uid string, proved map[string]resource.BootImageVerified) error {
	for try := 1; ; try++ {
		b, err := Get[*resource.BootImage](s, name)
		if err != nil {
			return err
		}
		if b.Metadata.UID != uid {
			return notFound("put", resource.KindBootImage, name)
		}
		if b.Status.Verified == nil {
			b.Status.Verified = map[string]resource.BootImageVerified{}
		}
		maps.Copy(b.Status.Verified, proved)
		err = s.Put(ctx, b)
		if err == nil || protocol.CodeOf(err) != protocol.CodeConflict || try == writeTries {
			return err
		}
	}
}

// HubFiles are the digests of the files that the hub itself keeps for servers: of every
// entry, those that were proved and those that are still on their way; and those of
// images in revisions and boot configurations, whose entry may be gone.
func (s *Store) HubFiles() map[string]bool {
	out := map[string]bool{}
	add := func(img resource.Image) {
		if img.Source == resource.ImageFromHub {
			for _, a := range img.Artefacts {
				out[a.Digest] = true
			}
		}
	}
	for _, b := range List[*resource.BootImage](s) {
		for _, arch := range b.Spec.Architectures {
			for _, f := range arch.Files {
				digest := "sha256:" + f.SHA256
				if v, ok := b.Status.Verified[digest]; ok {
					out[v.Digest] = true
					continue
				}
				out[digest] = true
				if f.UncompressedSHA256 != "" {
					out["sha256:"+f.UncompressedSHA256] = true
				}
			}
		}
	}
	for _, r := range List[*resource.GroupRevision](s) {
		for _, img := range r.Spec.Images {
			add(img)
		}
	}
	for _, b := range List[*resource.BootConfiguration](s) {
		add(b.Spec.Image)
		if b.Spec.Former != nil {
			add(b.Spec.Former.Image)
		}
	}
	return out
}
