package store

import "rackboot/protocol/resource"

// ManagedStubOf is the Secret that the hub has translated another one from; empty for a Secret of people.
func ManagedStubOf(s *resource.Secret) string { return s.Metadata.Annotations[AnnotationManagedStub] }

// managedStubUsers names who uses a Secret that the hub has translated: the groups whose current revision has
// it, and older revisions that are kept. Nothing that people write refers to it.
func (objs *Objects) managedStubUsers(name string) (who []string) {
	s, err := Peek[*resource.Secret](objs, name)
	if err != nil || ManagedStubOf(s) == "" {
		return nil
	}
	for _, r := range Find(objs, RevisionsBySecret, name) {
		if r.Spec.Stub == nil || r.Spec.Stub.UID != s.Metadata.UID {
			continue
		}
		g, err := Peek[*resource.ServerGroup](objs, r.Spec.Group)
		if err == nil && g.Metadata.UID == r.Spec.GroupUID && g.Status.Revision == r.Spec.Number {
			who = append(who, reference(resource.KindServerGroup, g.Metadata.Name))
			continue
		}
		who = append(who, reference(resource.KindGroupRevision, r.Metadata.Name))
	}
	return who
}

// lastNamed is the highest version of a Secret that the history of a group names; 0 is none. A Secret that is made
// again under its name goes on after it, so that a name with a version is one content in all histories.
func (ss *Secrets) lastNamed(name string) (version uint64) {
	for _, r := range Find(ss.objects, RevisionsBySecret, name) {
		for _, ref := range []*resource.IgnitionRef{r.Spec.Stub, r.Spec.OriginalStub} {
			if ref != nil && ref.Secret == name {
				version = max(version, ref.Version)
			}
		}
	}
	return version
}
