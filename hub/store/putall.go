package store

import (
	"context"
	"maps"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// PutAll is Put for several resources that are stored, at once: all of them or none. A commit costs
// what it costs for one and for many. It does not try again: of a conflict it is not known here whose it
// is, and each of them can be put by itself.
func (objs *Objects) PutAll(ctx context.Context, list []resource.Object) error {
	const op = "put several"
	changes, checks := make([]change, len(list)), map[string]uint64{}
	for i, obj := range list {
		meta := obj.Head().Metadata
		if meta.Revision == 0 || obj.Head().Kind == resource.KindGroupRevision {
			return protocol.Errorf(protocol.CodeInvalid, op, "%s %q is put by itself", obj.Head().Kind, meta.Name)
		}
		value, err := encode(obj)
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		old, err := objs.at(keyOf(obj.Head().Kind, meta.Name), meta.Revision)
		if err != nil {
			return stateError(op, err)
		}
		refers, err := objs.newReferences(ctx, old, obj)
		if err != nil {
			return err
		}
		maps.Copy(checks, refers)
		changes[i] = changeOf(old, obj, meta.Revision, value)
	}
	revisions, err := objs.transact(ctx, changes, checks, false)
	if err != nil {
		return stateError(op, err)
	}
	for i, obj := range list {
		obj.Head().Metadata.Revision = revisions[i]
	}
	return nil
}
