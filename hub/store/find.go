package store

import "rackboot/protocol/resource"

// Find returns the resources of type T that have a key, sorted by name. They are shared as
// those of [List] are. What it costs does not grow with the others.
func Find[T resource.Object](objs *Objects, k Key[T], key string) []T {
	return only[T](objs.core.mirror.find(string(k), term{word: key}))
}

// Referring returns the resources of type T whose spec refers to one, sorted by name and
// shared: the BMCs of a rack, the servers of a segment, the claims that name a server.
func Referring[T resource.Object](objs *Objects, kind resource.Kind, name string) []T {
	return only[T](objs.core.mirror.find(byReference, refersTo(kind, name)))
}

func only[T resource.Object](entries []*cached) (out []T) {
	for _, e := range entries {
		if obj, ok := e.obj.(T); ok {
			out = append(out, obj)
		}
	}
	return out
}
