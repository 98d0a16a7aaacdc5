package store

import "rackboot/protocol/resource"

// Outcome is what Apply did to one object.
type Outcome string

// The outcomes of Apply.
const (
	Created    Outcome = "created"
	Configured Outcome = "configured"
	Unchanged  Outcome = "unchanged"
)

// applyItem is one object of an Apply: old as stored (nil if it is new), next
// as it shall be stored, with the revision that it replaces.
type applyItem struct {
	old, next resource.Object
	outcome   Outcome
	envelope  []byte            // of a Secret
	at        uint64            // revision of what is stored; 0 where nothing is
	judged    map[string]uint64 // revisions of what it was judged by
}

// closes reports whether a change has to know everybody who refers to the resource: a server that gets
// another BMC, and whatever may become what somebody cannot go on naming.
func (it applyItem) closes() bool {
	if it.old == nil || it.outcome == Unchanged {
		return false
	}
	switch next := it.next.(type) {
	case *resource.Server:
		return exchanged(it)
	case *resource.Segment:
		return next.Spec.Role != it.old.(*resource.Segment).Spec.Role
	case *resource.Secret:
		return next.Spec.Type != it.old.(*resource.Secret).Spec.Type
	case *resource.BootEnv:
		old := it.old.(*resource.BootEnv).Spec
		return next.Spec.OnlyUnknown != old.OnlyUnknown || next.Spec.Destructive != old.Destructive
	case *resource.Param:
		return next.Metadata.Generation != it.old.Head().Metadata.Generation
	}
	return false
}

// exchanged says whether a stored server gets another BMC, or another of its systems:
// what a hold on it stops would be another machine.
func exchanged(it applyItem) bool {
	old, is := it.old.(*resource.Server)
	if !is {
		return false
	}
	next := it.next.(*resource.Server)
	return old.Spec.BMCRef != next.Spec.BMCRef || old.Spec.SystemURI != next.Spec.SystemURI
}
