package store

import (
	"hash/crc32"
	"reflect"

	"rackboot/protocol/resource"
)

// Peek returns the resource of type T as everybody shares it: neither it nor anything
// that it refers to may be changed. Whoever wants to change it uses [Get] or [Copy].
// The codes are not_found, and internal if it cannot be read.
func Peek[T resource.Object](objs *Objects, name string) (T, error) {
	if obj, ok := objs.core.mirror.object(resource.KindOf[T](), name).(T); ok {
		return obj, nil
	}
	return Get[T](objs, name) // says why not
}

// PeekOf returns the resource of a kind as everybody shares it, as [Peek] does; nil where it is not there, or
// cannot be read.
func (objs *Objects) PeekOf(kind resource.Kind, name string) resource.Object {
	return objs.core.mirror.object(kind, name)
}

// List returns all resources of type T, sorted by name. The slice is the caller's. The
// resources are shared as those of [Peek] are: each was decoded once, when its revision
// came, so that a list of a whole fleet costs no more than the slice.
func List[T resource.Object](objs *Objects) []T {
	entries := objs.core.mirror.list(bucketOf(resource.KindOf[T]()))
	out := make([]T, 0, len(entries))
	for _, e := range entries {
		if obj, ok := e.obj.(T); ok {
			out = append(out, obj)
		}
	}
	return out
}

// Copy returns a deep copy of a shared resource, at its revision, the caller's own: a
// Put of it fails where the stored one has changed since.
func Copy[T resource.Object](objs *Objects, obj T) T {
	c, err := clone(obj)
	if err != nil { // it was decoded from JSON, so it can be encoded
		objs.core.logger.Error("resource cannot be copied", "name", obj.Head().Metadata.Name, "err", err)
		return obj
	}
	return c.(T)
}

// Altered names the shared resources that are not what is stored, because somebody
// changed what [List] or [Peek] returned: a defect of the caller, which tests of callers
// look for at their end. It decodes everything.
func (objs *Objects) Altered() (keys []string) {
	for _, kind := range resource.Kinds() {
		for _, e := range objs.core.mirror.list(bucketOf(kind)) {
			if e.obj == nil {
				continue
			}
			if e.altered(kind) {
				keys = append(keys, e.Key)
			}
		}
	}
	return keys
}

func (c cached) altered(kind resource.Kind) bool {
	value, err := c.value()
	if err != nil || c.Value == nil && crc32.ChecksumIEEE(value) != c.sum {
		return true
	}
	c.Value = value
	stored, err := decode(kind, c.Entry)
	return err != nil || !reflect.DeepEqual(stored, c.obj)
}
