package store

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// PutBeside is Put for one resource that is stored, with a value of the hub's own, see [Meta.Put]: both
// or neither. It does not try again.
func (objs *Objects) PutBeside(ctx context.Context, obj resource.Object, name string, value []byte, revision uint64) error {
	const op = "put beside a value"
	meta := &obj.Head().Metadata
	if meta.Revision == 0 || !validToken(name) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s %q is not stored, or %q is not a name", obj.Head().Kind, meta.Name, name)
	}
	encoded, err := encode(obj)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	old, err := objs.at(keyOf(obj.Head().Kind, meta.Name), meta.Revision)
	if err != nil {
		return stateError(op, err)
	}
	checks, err := objs.newReferences(ctx, old, obj)
	if err != nil {
		return err
	}
	revisions, err := objs.transact(ctx, []change{changeOf(old, obj, meta.Revision, encoded)}, checks, false, write("meta."+name, value, revision))
	if err != nil {
		return stateError(op, err)
	}
	meta.Revision = revisions[0]
	return nil
}
