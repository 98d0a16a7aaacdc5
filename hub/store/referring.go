package store

import "rackboot/protocol/resource"

// referrers names what keeps a resource from being deleted.
func (s *Store) referrers(kind resource.Kind, name string) []string {
	if kind == resource.KindServer {
		return s.users(name)
	}
	who := s.referring(kind, name, resource.Kinds()...)
	if kind == resource.KindBootImage {
		who = append(who, s.bootImageUsers(name)...)
	}
	return who
}

// referring names the resources of some kinds whose spec refers to one, in the order of
// the kinds.
func (s *Store) referring(kind resource.Kind, name string, by ...resource.Kind) []string {
	found := map[string][]string{} // by bucket
	for _, e := range s.core.mirror.find(byReference, reference(kind, name)) {
		bucket, name := split(e.Key)
		found[bucket] = append(found[bucket], name)
	}
	var who []string
	for _, k := range by {
		for _, name := range found[bucketOf(k)] {
			who = append(who, reference(k, name))
		}
	}
	return who
}
