package store

import (
	"cmp"
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// erase deletes a resource to which nothing refers, in two steps: it is closed, so that nothing new
// refers to it; then, when everything that was written before is known here, it is deleted, or
// opened again. A crash between the steps leaves it closed, which whoever needs it takes back.
func (objs *Objects) erase(ctx context.Context, op string, kind resource.Kind, name string, guards ...Guard) (resource.Object, error) {
	for try := 1; ; try++ {
		var obj resource.Object
		err := objs.sets.pass(ctx, op, try > 1, func() (err error) {
			obj, err = objs.eraseOnce(ctx, op, kind, name, try > 1, guards)
			return err
		})
		switch {
		case err == nil:
			objs.core.logger.Info("resource deletion accepted", "kind", kind, "name", name)
			return obj, nil
		case !objs.core.again(ctx, err, try):
			return nil, err
		}
	}
}

func (objs *Objects) eraseOnce(ctx context.Context, op string, kind resource.Kind, name string, again bool, guards []Guard) (obj resource.Object, err error) {
	e, there := objs.core.mirror.get(keyOf(kind, name))
	if !there {
		return nil, notFound(op, kind, name)
	}
	if obj, err = e.copied(kind); err != nil {
		return nil, err
	}
	obj.Head().Metadata.Revision = cmp.Or(e.closed, e.Revision) // as whoever asks has read it
	closed := e
	defer func() {
		if err != nil && closed.closed != 0 {
			objs.core.reopen(ctx, e.Key, closed.Revision)
		}
	}()
	free := func() error {
		who := objs.referrers(kind, name)
		if len(who) == 0 {
			return nil
		}
		return protocol.Errorf(protocol.CodeConflict, op, "%q is still in use by %s", name, joined(who)).
			WithHint("delete or release those first")
	}
	if err := guarded(obj, guards); err != nil {
		return nil, err
	}
	if err := free(); err != nil {
		return nil, err
	}
	at, err := objs.core.close(ctx, e)
	if err != nil {
		return nil, stateError(op, err)
	}
	closed.closed, closed.Revision = cmp.Or(e.closed, e.Revision), at
	if err := free(); err != nil {
		return nil, err
	}
	if _, err := objs.transact(ctx, []change{changeOf(obj, nil, at, nil)}, nil, again); err != nil {
		return nil, stateError(op, err)
	}
	objs.core.crash.At("hub.store.erased")
	return obj, nil
}

// Remove deletes the resource at its revision. A BMC or Secret that something refers to stays:
// that is a conflict. The codes are conflict,
// unavailable and timeout; one that is gone already is a conflict.
func (objs *Objects) Remove(ctx context.Context, obj resource.Object) error {
	h := obj.Head()
	op := "remove " + string(h.Kind)
	if h.Kind == resource.KindBMC || h.Kind == resource.KindSecret {
		_, err := objs.erase(ctx, op, h.Kind, h.Metadata.Name, AtRevision(h.Metadata.Revision))
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return stateError(op, state.ErrConflict)
		}
		return err
	}
	for try := 1; ; try++ {
		old, err := objs.at(keyOf(h.Kind, h.Metadata.Name), h.Metadata.Revision)
		if err != nil || old == nil && h.Metadata.Revision == 0 {
			return stateError(op, state.ErrConflict)
		}
		if old == nil {
			old = obj // which cannot be read, and is the caller's all the same
		}
		if _, err = objs.transact(ctx, []change{changeOf(old, nil, h.Metadata.Revision, nil)}, nil, try > 1); err == nil {
			return nil
		}
		if !objs.core.again(ctx, err, try) {
			return stateError(op, err)
		}
	}
}
