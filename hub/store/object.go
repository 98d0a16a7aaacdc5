package store

import (
	"context"
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Get returns a deep copy, the caller's own; not_found if there is none.
func (objs *Objects) Get(kind resource.Kind, name string) (resource.Object, error) {
	e, ok := objs.core.mirror.get(keyOf(kind, name))
	if !ok {
		return nil, notFound("get", kind, name)
	}
	return e.copied(kind)
}

// Copies returns deep copies of all resources of the kind, sorted by name.
// One that this version cannot read is left out; it was logged when it came.
func (objs *Objects) Copies(kind resource.Kind) []resource.Object {
	entries := objs.core.mirror.list(bucketOf(kind))
	out := make([]resource.Object, 0, len(entries))
	for _, e := range entries {
		if e.obj == nil {
			continue
		}
		if obj, err := e.copied(kind); err == nil {
			out = append(out, obj)
		}
	}
	return out
}

// Get returns a deep copy of the resource of type T, the caller's own; not_found if
// there is none.
func Get[T resource.Object](objs *Objects, name string) (T, error) {
	obj, err := objs.Get(resource.KindOf[T](), name)
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

// Copies returns deep copies of all resources of type T, the caller's own, sorted by
// name.
func Copies[T resource.Object](objs *Objects) []T {
	all := objs.Copies(resource.KindOf[T]())
	out := make([]T, len(all))
	for i, o := range all {
		out[i] = o.(T)
	}
	return out
}

// Change changes a stored resource: change is given a copy of what there is, again where somebody else was
// faster, and reports whether there is something to write. The codes are not_found, conflict, unavailable
// and timeout.
func (objs *Objects) Change(ctx context.Context, kind resource.Kind, name string, change func(resource.Object) bool) error {
	for try := 1; ; try++ {
		obj, err := objs.Get(kind, name)
		if err != nil || !change(obj) {
			return err
		}
		if err = objs.Put(ctx, obj); err == nil || !objs.core.again(ctx, err, try) {
			return err
		}
	}
}

// Put writes a resource that the hub makes, or a status: compare-and-set on
// metadata.revision, where 0 creates. It updates the revision of obj, and at
// creation fills UID, generation and time of creation where they are empty.
// A GroupRevision is written once: of a stored one only the status changes.
// The codes are invalid, conflict, unavailable and timeout.
func (objs *Objects) Put(ctx context.Context, obj resource.Object) error {
	meta := &obj.Head().Metadata
	if meta.Revision == 0 {
		obj.Default()
		objs.stamp(meta)
	}
	op := "put " + string(obj.Head().Kind)
	if meta.Revision == 0 {
		if f := obj.Validate(); len(f) > 0 {
			return protocol.Errorf(protocol.CodeInvalid, op, "%q: %w", meta.Name, f)
		}
	}
	if r, ok := obj.(*resource.GroupRevision); ok {
		if err := objs.appended(r); err != nil {
			return err
		}
	}
	value, err := encode(obj)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	key := keyOf(obj.Head().Kind, meta.Name)
	for try := 1; ; try++ {
		old, err := objs.at(key, meta.Revision)
		if err != nil {
			return stateError(op, err)
		}
		checks, err := objs.newReferences(ctx, old, obj)
		if err != nil {
			return err
		}
		revisions, err := objs.transact(ctx, []change{changeOf(old, obj, meta.Revision, value)}, checks, try > 1)
		if err == nil {
			meta.Revision = revisions[0]
			return nil
		}
		if _, taken := errors.AsType[*takenError](err); taken {
			return stateError(op, err)
		}
		// What it rests on may have changed, and the resource itself not.
		if _, changed := objs.at(key, meta.Revision); changed != nil || !objs.core.again(ctx, err, try) {
			return stateError(op, err)
		}
	}
}

// at is the resource that is stored under a key at a revision, nil at 0, where there shall be
// none. Another revision is a state.ErrConflict. One that cannot be read is nil too: it has no rules.
func (objs *Objects) at(key string, revision uint64) (resource.Object, error) {
	e, there := objs.core.mirror.get(key)
	if there && e.Revision != revision || !there && revision != 0 {
		return nil, state.ErrConflict
	}
	return e.obj, nil
}

// stamp fills what a resource gets at creation.
func (objs *Objects) stamp(meta *resource.Metadata) {
	if meta.UID == "" {
		meta.UID = objs.core.newID()
	}
	if meta.Generation == 0 {
		meta.Generation = 1
	}
	if meta.CreatedAt == nil {
		now := objs.core.clock().UTC()
		meta.CreatedAt = &now
	}
}
