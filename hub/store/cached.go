package store

import (
	"strings"

	"rackboot/protocol/resource"
	"rackboot/state"
)

// cached is an entry and, for a resource, what it decodes to, which is shared by
// everybody who reads and which nobody may change. A resource that can be made into what is
// stored again has no Value: of a large fleet those were a third of the hub's memory.
type cached struct {
	state.Entry
	obj resource.Object // nil for what is no resource, or cannot be read
	sum uint32          // of the Value that was left away
	// closed is the revision that a resource was closed over; see closedMark.
	closed uint64
}

// object is what an entry decodes to; nil for none.
func (e *cached) object() resource.Object {
	if e == nil {
		return nil
	}
	return e.obj
}

// split takes a key apart at its last dot; names have none.
func split(key string) (bucket, name string) {
	i := strings.LastIndexByte(key, '.')
	return key[:max(i, 0)], key[i+1:]
}
