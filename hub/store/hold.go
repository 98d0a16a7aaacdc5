package store

import (
	"context"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Holds keeps servers off for their owners.
type Holds struct {
	core    *core
	objects *Objects
	// underway is what is being written of what a rack has room for.
	underway underway
}

// Create accepts a hold: when it returns, the hold is durable. It is
// idempotent by (owner, key, server): with the same body the existing hold is
// returned, also one that was placed before a crash. A soft hold becomes hard in place, with
// a new reason and ref where they are given; with another body, while the
// existing one is being released, or when the rack has no room for more, the code is
// conflict. The id is the
// name of h if given, else a new ULID in lower case. h is not changed.
//
// The other codes are invalid, not_found (the server), unavailable and timeout.
func (hs *Holds) Create(ctx context.Context, h *resource.Hold) (*resource.Hold, error) {
	const op = "hold"
	obj, err := clone(h)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	hold := obj.(*resource.Hold)
	hold.Default()
	named := hold.Metadata.Name != ""
	if !named {
		hold.Metadata.Name = strings.ToLower(hs.core.newID())
	}
	if f := hold.Validate(); len(f) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", f).WithHint("nothing was held; correct the fields that are named")
	}
	hold.Status = resource.HoldStatus{}
	hold.Metadata = resource.Metadata{Name: hold.Metadata.Name, Labels: h.Metadata.Labels, Annotations: h.Metadata.Annotations}
	hs.objects.stamp(&hold.Metadata)
	known := hs.core.alone() // that it is there already is so in the store
	for try := 1; ; try++ {
		old, err := hs.create(ctx, op, hold, named, try > 1)
		switch {
		case err == nil && old != nil && known:
			return old, nil
		case err == nil && old != nil:
			if known, err = hs.core.knows(ctx, try); err != nil {
				return nil, err
			}
		case err == nil:
			hs.core.logger.Info("hold accepted", "hold", hold.Metadata.Name, "server", hold.Spec.Server, "mode", hold.Spec.Mode, "by", hold.Spec.Owner)
			return hold, nil
		case !hs.core.again(ctx, err, try):
			return nil, err
		}
	}
}

// create is one try. It returns the hold that is there already, or what has
// refused it; a state.ErrConflict is somebody who was faster.
func (hs *Holds) create(ctx context.Context, op string, hold *resource.Hold, named, again bool) (*resource.Hold, error) {
	key := keyOf(resource.KindHold, hold.Metadata.Name)
	checks, err := hs.objects.newReferences(ctx, nil, hold)
	if err != nil {
		return nil, err
	}
	if hold.Status.Rack, err = hs.objects.RackOf(hold.Spec.Server); err != nil {
		return nil, err
	}
	for _, old := range Referring[*resource.Hold](hs.objects, resource.KindServer, hold.Spec.Server) {
		if old.Spec.Owner == hold.Spec.Owner && old.Spec.Key == hold.Spec.Key {
			return hs.same(ctx, Copy(hs.objects, old), hold, named)
		}
	}
	if s, err := Peek[*resource.Server](hs.objects, hold.Spec.Server); err == nil && s.Spec.DisablePowerOff {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "server %q is never powered off (spec.disablePowerOff), so a hold would prove nothing", hold.Spec.Server).
			WithHint("nothing was held: power it off by other means, or take spec.disablePowerOff out of the Server and place the hold again")
	}
	if _, there := hs.core.mirror.get(key); there {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "hold %q exists with another owner, key or server", hold.Metadata.Name).
			WithHint("leave the name out to get a new id")
	}
	others, done := hs.underway.add("holds of "+hold.Status.Rack, holdSize(hold))
	defer done()
	if err := hs.roomFor(op, hold, others); err != nil {
		return nil, err
	}
	value, err := encode(hold)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revisions, err := hs.objects.transact(ctx, []change{changeOf(nil, hold, 0, value)}, checks, again)
	if err != nil {
		return nil, stateError(op, err)
	}
	hold.Metadata.Revision = revisions[0]
	return nil, nil
}

// same answers with the hold that is there already, which takes over from the one that was asked for
// what may change.
func (hs *Holds) same(ctx context.Context, old, asked *resource.Hold, named bool) (*resource.Hold, error) {
	conflict := protocol.Errorf(protocol.CodeConflict, "hold",
		"%q already holds server %q with key %q as hold %s", old.Spec.Owner, old.Spec.Server, old.Spec.Key, old.Metadata.Name)
	next, fits := changed(old.Spec, asked.Spec)
	switch {
	case old.Status.ReleasedAt != nil:
		return nil, conflict.WithHint("that hold is being released; try again when it is gone, or use another key")
	case !fits || named && old.Metadata.Name != asked.Metadata.Name:
		return nil, conflict.WithHint("it lies on with its own mode, times and id, and the server stays off; place a second one with another key if it is to lie otherwise")
	case next == old.Spec:
		return old, nil
	}
	hs.core.logger.Info("hold changed", "hold", old.Metadata.Name, "server", next.Server, "mode", next.Mode, "was", old.Spec.Mode, "by", next.Owner)
	old.Spec = next
	old.Metadata.Generation++
	return old, hs.objects.Put(ctx, old)
}

// changed is a hold's spec once the same hold was asked for anew: a soft one may become hard, with a reason
// and a ref of its own where they are given. It reports whether the two differ in nothing else.
func changed(old, asked resource.HoldSpec) (next resource.HoldSpec, fits bool) {
	if _, harder := old.Becomes(asked); !harder {
		return old, old == asked
	}
	next = old
	next.Mode = asked.Mode
	if asked.Reason != "" {
		next.Reason = asked.Reason
	}
	if asked.Ref != "" {
		next.Ref = asked.Ref
	}
	asked.Reason, asked.Ref = next.Reason, next.Ref
	return next, next == asked
}

// Release records the release of a hold, durably. reason says why, where it is
// not the owner who releases it: who may is for the caller to judge, and does not
// change, since the owner of a hold never does. The hold stays stored until Remove, so
// that the release reaches the agent. Releasing again changes nothing. The codes are
// not_found, unavailable and timeout.
func (hs *Holds) Release(ctx context.Context, id, by, reason string) (*resource.Hold, error) {
	return hs.change(ctx, "release", id, func(h *resource.Hold) (bool, error) {
		return hs.release(h, by, reason, ""), nil
	})
}

// release notes that a hold is released; false if it was.
func (hs *Holds) release(h *resource.Hold, by, reason, with string) bool {
	if h.Status.ReleasedAt != nil {
		return false
	}
	now := hs.core.clock().UTC()
	h.Status.ReleasedAt, h.Status.ReleasedBy, h.Status.ReleaseReason = &now, by, reason
	if with != "" {
		if h.Metadata.Annotations == nil {
			h.Metadata.Annotations = map[string]string{}
		}
		h.Metadata.Annotations[AnnotationReleasedWith] = with
	}
	hs.core.logger.Info("hold released", "hold", h.Metadata.Name, "server", h.Spec.Server, "by", by, "reason", reason, "with", with)
	return true
}

// ConfirmDown stores that somebody says that a held server is down. It is stored once:
// the same again changes nothing, another word is a conflict, and so is one about a
// hold that is released. The other codes are invalid, not_found, unavailable and
// timeout.
func (hs *Holds) ConfirmDown(ctx context.Context, id, by, reason string) (*resource.Hold, error) {
	const op = "confirm down"
	if strings.TrimSpace(reason) == "" || len(reason) > maxReason {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the reason has %d bytes; give 1 to %d", len(reason), maxReason).
			WithHint("say how it is known that the server is down: who looked, at what")
	}
	return hs.change(ctx, op, id, func(h *resource.Hold) (bool, error) {
		was := h.Status.ConfirmedDown
		switch {
		case h.Status.ReleasedAt != nil:
			return false, protocol.Errorf(protocol.CodeConflict, op, "hold %s was released by %q", id, h.Status.ReleasedBy).
				WithHint("hold the server again, then confirm that it is down")
		case was != nil && was.By == by && was.Reason == reason:
			return false, nil
		case was != nil:
			return false, protocol.Errorf(protocol.CodeConflict, op, "%q has confirmed at %s already that the server of hold %s is down: %s",
				was.By, was.At.UTC().Format(time.RFC3339), id, was.Reason).WithHint("it is kept as it was said; nothing more is needed")
		}
		h.Status.ConfirmedDown = &resource.Confirmation{By: by, Reason: reason, At: hs.core.clock().UTC()}
		hs.core.logger.Warn("server confirmed down", "hold", id, "server", h.Spec.Server, "by", by, "reason", reason)
		return true, nil
	})
}

// change changes the status of a hold; change says whether there is something to
// write.
func (hs *Holds) change(ctx context.Context, op, id string, change func(*resource.Hold) (bool, error)) (*resource.Hold, error) {
	for try := 1; ; try++ {
		hold, err := Get[*resource.Hold](hs.objects, id)
		if err != nil {
			return nil, err
		}
		if changed, err := change(hold); err != nil || !changed {
			return hold, err
		}
		err = hs.objects.Put(ctx, hold)
		if err == nil {
			return hold, nil
		}
		if !hs.core.again(ctx, err, try) {
			return nil, err
		}
	}
}

// Released is the last word of a hold that was released and has left the store, for as long as
// the store keeps deletions. The codes are not_found, which says that nothing is known of such a
// release, unavailable and timeout.
func (hs *Holds) Released(ctx context.Context, id string) (*resource.Hold, error) {
	const op = "read a released hold"
	e, err := hs.core.kv.Buried(ctx, keyOf(resource.KindHold, id))
	if err != nil {
		return nil, stateError(op, err)
	}
	obj, err := decode(resource.KindHold, e)
	if err != nil {
		return nil, err
	}
	h := obj.(*resource.Hold)
	if h.Status.ReleasedAt == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "hold %q was not released", id)
	}
	h.Metadata.Revision = 0
	return h, nil
}

// Unrelease takes back the release of a hold that was not approved: it is as if it
// had not been released. One that is not released is left as it is. It is for a release
// that no agent was sent. The codes are not_found, unavailable and timeout.
func (hs *Holds) Unrelease(ctx context.Context, id string) error {
	_, err := hs.change(ctx, "take the release back", id, func(h *resource.Hold) (bool, error) {
		if h.Status.ReleasedAt == nil {
			return false, nil
		}
		h.Status.ReleasedAt, h.Status.ReleasedBy, h.Status.ReleaseReason = nil, "", ""
		delete(h.Metadata.Annotations, AnnotationReleasedWith)
		return true, nil
	})
	return err
}

// On lists the holds on a server that were not released.
func (hs *Holds) On(server string) []*resource.Hold {
	var out []*resource.Hold
	for _, h := range Referring[*resource.Hold](hs.objects, resource.KindServer, server) {
		if h.Status.ReleasedAt == nil {
			out = append(out, Copy(hs.objects, h))
		}
	}
	return out
}

// roomFor refuses a hold that does not fit any more into the hold document of its
// rack, beside what else is under way. Two hubs that write at once may pass the bound by what each has under way: the
// document has room for dozens more.
func (hs *Holds) roomFor(op string, hold *resource.Hold, others int) error {
	rack := hold.Status.Rack
	used := holdSize(hold) + others
	for _, h := range Find(hs.objects, HoldsByRack, rack) {
		used += holdSize(h)
	}
	if used <= maxHolds {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the holds of rack %q take %d bytes, and %d is the most that its agent can be sent", rack, used, maxHolds).
		WithHint("release holds that nobody needs (rackctl get holds), or give shorter reasons and refs")
}
