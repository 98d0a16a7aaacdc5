package store

import (
	"context"
	"errors"
	"strings"

	"rackboot/protocol"
	"rackboot/state"
)

// CreateHold accepts a hold: when it returns, the hold is durable. It is
// idempotent by (owner, key, server): with the same body the existing hold is
// returned, also one that was placed before a crash; with another body, or
// while the existing one is being released, the code is conflict. The id is the
// name of h if given, else a new ULID in lower case. h is not changed.
//
// The other codes are invalid, not_found (the server), unavailable and timeout.
func (s *Store) CreateHold(ctx context.Context, h *protocol.Hold) (*protocol.Hold, error) {
	const op = "hold"
	unlock, err := s.holdLock.acquire(ctx, op)
	if err != nil {
		return nil, err
	}
	defer unlock()
	obj, err := clone(h)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	hold := obj.(*protocol.Hold)
	hold.Default()
	named := hold.Metadata.Name != ""
	if !named {
		hold.Metadata.Name = strings.ToLower(s.newID())
	}
	if f := hold.Validate(); len(f) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", f).WithHint("nothing was held; correct the fields that are named")
	}
	rack, err := s.RackOf(hold.Spec.Server)
	if err != nil {
		return nil, err
	}
	for _, old := range peek[*protocol.Hold](s) {
		if old.Spec.Owner != hold.Spec.Owner || old.Spec.Key != hold.Spec.Key || old.Spec.Server != hold.Spec.Server {
			continue
		}
		return sameHold(copied(s, old), hold, named)
	}
	hold.Status = protocol.HoldStatus{Rack: rack}
	hold.Metadata = protocol.Metadata{Name: hold.Metadata.Name, Labels: h.Metadata.Labels, Annotations: h.Metadata.Annotations}
	s.stamp(&hold.Metadata)
	value, err := encode(hold)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	hold.Metadata.Revision, err = s.put(ctx, keyOf(protocol.KindHold, hold.Metadata.Name), value, 0)
	if errors.Is(err, state.ErrConflict) {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "hold %q exists with another owner, key or server", hold.Metadata.Name).
			WithHint("leave the name out to get a new id")
	}
	if err != nil {
		return nil, stateError(op, err)
	}
	s.logger.Info("hold accepted", "hold", hold.Metadata.Name, "server", hold.Spec.Server, "mode", hold.Spec.Mode, "by", hold.Spec.Owner)
	return hold, nil
}

func sameHold(old, asked *protocol.Hold, named bool) (*protocol.Hold, error) {
	conflict := protocol.Errorf(protocol.CodeConflict, "hold",
		"%q already holds server %q with key %q as hold %s", old.Spec.Owner, old.Spec.Server, old.Spec.Key, old.Metadata.Name)
	switch {
	case old.Status.ReleasedAt != nil:
		return nil, conflict.WithHint("that hold is being released; try again when it is gone, or use another key")
	case old.Spec != asked.Spec || (named && old.Metadata.Name != asked.Metadata.Name):
		return nil, conflict.WithHint("it differs in mode, timeout, reason, ref or id; release it first, or use another key")
	}
	return old, nil
}

// ReleaseHold records the release of a hold, durably. The hold stays stored
// until Remove, so that the release reaches the agent. Releasing again changes
// nothing. The codes are not_found, unavailable and timeout.
func (s *Store) ReleaseHold(ctx context.Context, id, by string) (*protocol.Hold, error) {
	const op = "release"
	for try := 1; ; try++ {
		hold, err := Get[*protocol.Hold](s, id)
		if err != nil {
			return nil, err
		}
		if hold.Status.ReleasedAt != nil {
			return hold, nil
		}
		now := s.clock().UTC()
		hold.Status.ReleasedAt, hold.Status.ReleasedBy = &now, by
		value, err := encode(hold)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		hold.Metadata.Revision, err = s.put(ctx, keyOf(protocol.KindHold, id), value, hold.Metadata.Revision)
		switch {
		case err == nil:
			s.logger.Info("hold release accepted", "hold", id, "server", hold.Spec.Server, "by", by)
			return hold, nil
		case !errors.Is(err, state.ErrConflict) || try == writeTries:
			return nil, stateError(op, err)
		}
	}
}
