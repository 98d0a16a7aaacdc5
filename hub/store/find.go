package store

import "rackboot/protocol/resource"

// Find returns the resources of type T that have a key, sorted by name. They are shared as
// those of [List] are. What it costs does not grow with the others.
func Find[T resource.Object](s *Store, k Key[T], key string) []T {
	return only[T](s.core.mirror.find(string(k), key))
}

// Referring returns the resources of type T whose spec refers to one, sorted by name and
// shared: the BMCs of a rack, the servers of a segment, the claims that name a server.
func Referring[T resource.Object](s *Store, kind resource.Kind, name string) []T {
	return only[T](s.core.mirror.find(byReference, reference(kind, name)))
}

func only[T resource.Object](entries []*cached) (out []T) {
	for _, e := range entries {
		if obj, ok := e.obj.(T); ok {
			out = append(out, obj)
		}
	}
	return out
}

// Changes counts what has changed in what is read here since the store was opened; with a rack only what is of that
// rack, or of no rack or all. Whoever reads the count first, and then resources, has what is stored for as long as
// the count stays.
func (s *Store) Changes(rack string) uint64 {
	m := s.core.mirror
	m.mu.RLock()
	defer m.mu.RUnlock()
	if rack == "" {
		return m.changes
	}
	return max(m.touches.all, m.touches.racks[rack])
}
