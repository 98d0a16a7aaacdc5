package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// appended refuses to change what a stored GroupRevision says: the history of a group is
// only added to.
func (objs *Objects) appended(r *resource.GroupRevision) error {
	const op = "put GroupRevision"
	h := r.Metadata
	if want := resource.GroupRevisionName(r.Spec.Group, r.Spec.Number); r.Spec.Number < 1 || h.Name != want {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not the name of revision %d of group %q", h.Name, r.Spec.Number, r.Spec.Group)
	}
	if h.Revision == 0 {
		return nil
	}
	old, err := Peek[*resource.GroupRevision](objs, h.Name)
	if err != nil {
		return err
	}
	same, err := sameSpec(old, r)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	case !same:
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is there, and what it says never changes", h.Name).WithHint("make the next revision")
	}
	return nil
}
