package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// encode makes the stored form: without the revision, which is the entry's, and
// without what is only shown: of a Server's status the accepted identity, the mark of
// firmware work and what there is of discoveries are stored, of a BMC's what decides, and
// of a BootImage's what was proved.
func encode(obj resource.Object) ([]byte, error) {
	meta := &obj.Head().Metadata
	revision := meta.Revision
	meta.Revision = 0
	defer func() { meta.Revision = revision }()
	if srv, ok := obj.(*resource.Server); ok {
		bare := *srv
		was := srv.Status
		bare.Status = resource.ServerStatus{AcceptedIdentity: was.AcceptedIdentity, Firmware: was.Firmware, Discovered: was.Discovered, Discovery: was.Discovery, BootEnv: was.BootEnv, OS: was.OS}
		return json.Marshal(&bare)
	}
	if i, ok := obj.(*resource.BootImage); ok {
		bare := *i
		bare.Status.Conditions = nil // they are found when it is printed
		return json.Marshal(&bare)
	}
	if e, ok := obj.(*resource.BootEnv); ok {
		bare := *e
		bare.Status = resource.BootEnvStatus{} // it is found when it is printed
		return json.Marshal(&bare)
	}
	if g, ok := obj.(*resource.ServerGroup); ok {
		bare := *g
		bare.Status.Enrolment, bare.Status.Counts, bare.Status.Skew, bare.Status.Conditions, bare.Status.ObservedGeneration = nil, nil, "", nil, 0
		return json.Marshal(&bare)
	}
	if secret, ok := obj.(*resource.Secret); ok {
		return encodeSecret(secret, nil) // which refuses it
	}
	if b, ok := obj.(*resource.BMC); ok {
		bare := *b
		bare.Status = resource.BMCStatus{State: b.Status.State, AcceptedBy: b.Status.AcceptedBy, Found: b.Status.Found, Address: b.Status.Address, Rotation: b.Status.Rotation}
		return json.Marshal(&bare)
	}
	return json.Marshal(obj)
}

func decode(kind resource.Kind, e state.Entry) (resource.Object, error) {
	obj := resource.NewObject(kind)
	if obj == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read resource", "%q is not a kind", kind)
	}
	if err := json.Unmarshal(e.Value, obj); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "read resource", "stored %s cannot be read: %w", e.Key, err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	if b, ok := obj.(*resource.BootConfiguration); ok && b.Spec.Owner.UID == "" {
		// As a commit before 0.1.0 wrote it. Unread, it would count as none, and its server
		// would get a first boot anew.
		return nil, protocol.Errorf(protocol.CodeInternal, "read resource", "stored %s names no owner", e.Key).
			WithHint("a hub from before 0.1.0 wrote it: start that one again, or begin in an empty folder")
	}
	obj.Head().Metadata.Revision = e.Revision
	return obj, nil
}

// read decodes an entry that is a resource.
func read(e state.Entry) (cached, error) {
	c := cached{Entry: e}
	bucket, _ := split(e.Key)
	for _, k := range resource.Kinds() {
		if !e.Deleted && bucketOf(k) == bucket {
			obj, err := decode(k, e)
			if err == nil {
				c.obj, c.closed = obj, closedOver(e.Value)
				sameText(obj)
				c.slim()
			}
			return c, err
		}
	}
	return c, nil
}

// slim leaves the Value of a resource away, if the resource says all that is in it, to the byte:
// what a newer hub has written may say more.
func (c *cached) slim() {
	if made, err := encode(c.obj); err == nil && bytes.Equal(made, c.Value) {
		c.sum, c.Value = crc32.ChecksumIEEE(made), nil
	}
}

// copied is a deep copy of a resource.
func (c cached) copied(kind resource.Kind) (resource.Object, error) {
	if c.obj == nil || c.Value != nil {
		return decode(kind, c.Entry) // which says why it cannot be read
	}
	return clone(c.obj)
}

// value is what is stored of a resource.
func (c cached) value() ([]byte, error) {
	if c.obj == nil || c.Value != nil {
		return c.Value, nil
	}
	own, err := clone(c.obj)
	if err != nil {
		return nil, err
	}
	return encode(own)
}

// readLogged is read for entries that cannot be refused; one that cannot be
// read is logged once, here, and is in no list.
func (s *Store) readLogged(e state.Entry) cached {
	c, err := read(e)
	if err != nil {
		s.logger.Error("stored resource cannot be read", "key", e.Key, "err", err)
	}
	return c
}

// GetObject returns a deep copy, the caller's own; not_found if there is none.
func (s *Store) GetObject(kind resource.Kind, name string) (resource.Object, error) {
	e, ok := s.mirror.get(keyOf(kind, name))
	if !ok {
		return nil, notFound("get", kind, name)
	}
	return e.copied(kind)
}

// CopyObjects returns deep copies of all resources of the kind, sorted by name.
// One that this version cannot read is left out; it was logged when it came.
func (s *Store) CopyObjects(kind resource.Kind) []resource.Object {
	entries := s.mirror.list(bucketOf(kind))
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
func Get[T resource.Object](s *Store, name string) (T, error) {
	obj, err := s.GetObject(resource.KindOf[T](), name)
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

// Copies returns deep copies of all resources of type T, the caller's own, sorted by
// name.
func Copies[T resource.Object](s *Store) []T {
	objs := s.CopyObjects(resource.KindOf[T]())
	out := make([]T, len(objs))
	for i, o := range objs {
		out[i] = o.(T)
	}
	return out
}

// Put writes a resource that the hub makes, or a status: compare-and-set on
// metadata.revision, where 0 creates. It updates the revision of obj, and at
// creation fills UID, generation and time of creation where they are empty.
// A GroupRevision is written once: of a stored one only the status changes.
// The codes are invalid, conflict, unavailable and timeout.
func (s *Store) Put(ctx context.Context, obj resource.Object) error {
	meta := &obj.Head().Metadata
	if meta.Revision == 0 {
		obj.Default()
		s.stamp(meta)
	}
	op := "put " + string(obj.Head().Kind)
	if meta.Revision == 0 {
		if f := obj.Validate(); len(f) > 0 {
			return protocol.Errorf(protocol.CodeInvalid, op, "%q: %w", meta.Name, f)
		}
	}
	if r, ok := obj.(*resource.GroupRevision); ok {
		if err := s.appended(r); err != nil {
			return err
		}
	}
	value, err := encode(obj)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	key := keyOf(obj.Head().Kind, meta.Name)
	for try := 1; ; try++ {
		old, err := s.at(key, meta.Revision)
		if err != nil {
			return stateError(op, err)
		}
		checks, err := s.newReferences(ctx, old, obj)
		if err != nil {
			return err
		}
		revisions, err := s.transact(ctx, []change{changeOf(old, obj, meta.Revision, value)}, checks, try > 1)
		if err == nil {
			meta.Revision = revisions[0]
			return nil
		}
		if _, taken := errors.AsType[*takenError](err); taken {
			return stateError(op, err)
		}
		// What it rests on may have changed, and the resource itself not.
		if _, changed := s.at(key, meta.Revision); changed != nil || !s.again(ctx, err, try) {
			return stateError(op, err)
		}
	}
}

// at is the resource that is stored under a key at a revision, nil at 0, where there shall be
// none. Another revision is a state.ErrConflict. One that cannot be read is nil too: it has no rules.
func (s *Store) at(key string, revision uint64) (resource.Object, error) {
	e, there := s.mirror.get(key)
	if there && e.Revision != revision || !there && revision != 0 {
		return nil, state.ErrConflict
	}
	return e.obj, nil
}

// stamp fills what a resource gets at creation.
func (s *Store) stamp(meta *resource.Metadata) {
	if meta.UID == "" {
		meta.UID = s.newID()
	}
	if meta.Generation == 0 {
		meta.Generation = 1
	}
	if meta.CreatedAt == nil {
		now := s.clock().UTC()
		meta.CreatedAt = &now
	}
}

// Remove deletes the resource at its revision. A BMC or Secret that something refers to stays:
// that is a conflict. The codes are conflict,
// unavailable and timeout; one that is gone already is a conflict.
func (s *Store) Remove(ctx context.Context, obj resource.Object) error {
	h := obj.Head()
	op := "remove " + string(h.Kind)
	if h.Kind == resource.KindBMC || h.Kind == resource.KindSecret {
		_, err := s.erase(ctx, op, h.Kind, h.Metadata.Name, AtRevision(h.Metadata.Revision))
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return stateError(op, state.ErrConflict)
		}
		return err
	}
	for try := 1; ; try++ {
		old, err := s.at(keyOf(h.Kind, h.Metadata.Name), h.Metadata.Revision)
		if err != nil || old == nil && h.Metadata.Revision == 0 {
			return stateError(op, state.ErrConflict)
		}
		if old == nil {
			old = obj // which cannot be read, and is the caller's all the same
		}
		if _, err = s.transact(ctx, []change{changeOf(old, nil, h.Metadata.Revision, nil)}, nil, try > 1); err == nil {
			return nil
		}
		if !s.again(ctx, err, try) {
			return stateError(op, err)
		}
	}
}
