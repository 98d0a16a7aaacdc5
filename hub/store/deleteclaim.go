package store

import (
	"context"
	"fmt"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// HoldRelease says who releases the holds on the server of a claim that is deleted,
// and why.
type HoldRelease struct {
	By string
	// Reason is needed for any release; empty releases nothing.
	Reason string
	// BreakGlass is whether By may release holds that others own.
	BreakGlass bool
}

// Delete gives a claim metadata.deletedAt; it is removed with Remove when its
// server was proved Off. A hold that lies on its server refuses that, unless r has a
// reason: then all of them are released with it, at once. The claim that goes keeps the
// server off.
//
//	claim goes | holds lie | reason | foreign | right | outcome
//	yes        | *         | no     | *       | *     | nothing changes
//	yes        | no        | yes    | *       | *     | nothing changes
//	no         | no        | *      | *       | *     | it goes
//	no         | yes       | no     | *       | *     | conflict
//	*          | yes       | yes    | yes     | no    | denied
//	*          | yes       | yes    | no      | *     | it goes, all are released
//	*          | yes       | yes    | yes     | yes   | it goes, all are released
//
// A hold that comes while the claim goes stays, also one that another hub has taken a moment
// before and this one has not heard of: the claim that goes keeps the server off as well. The other codes are invalid,
// not_found, unavailable and timeout, and those of the guards.
func (cs *Claims) Delete(ctx context.Context, name string, r HoldRelease, guards ...Guard) (*resource.Claim, error) {
	const op = "delete Claim"
	if len(r.Reason) > maxReason {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the reason is longer than %d bytes", maxReason).
			WithHint("say it shorter")
	}
	known := cs.core.alone() // that it goes already is so in the store
	for try := 1; ; try++ {
		claim, err := Get[*resource.Claim](cs.objects, name)
		if err != nil {
			return nil, err
		}
		if err := guarded(claim, guards); err != nil {
			return nil, err
		}
		var holds []*resource.Hold
		if claim.Status.Server != "" {
			holds = cs.holds.On(claim.Status.Server)
		}
		goes := claim.Metadata.DeletedAt != nil
		switch mayDelete(goes, len(holds) > 0, r.Reason != "", foreign(holds, r.By) != nil, r.BreakGlass) {
		case deleteNothing:
			if known {
				return claim, nil
			}
			if known, err = cs.core.knows(ctx, try); err != nil {
				return nil, err
			}
			continue
		case deleteConflict:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "server %q is held off by %s", claim.Status.Server, named(holds)).
				WithHint("let their owners release them first, or release them all with it: rackctl delete claim %s --release-holds REASON", name)
		case deleteDenied:
			return nil, protocol.Errorf(protocol.CodeDenied, op, "%q may not release what others hold: %s", r.By, named(foreign(holds, r.By))).
				WithHint("nothing was changed; somebody with the right to break glass can do so")
		case deleteGoes:
		}
		if err = cs.end(ctx, claim, holds, r); err == nil {
			return claim, nil
		}
		if !cs.core.again(ctx, err, try) {
			return nil, stateError(op, err)
		}
	}
}

type deletion string

const (
	deleteNothing  deletion = "nothing changes"
	deleteGoes     deletion = "it goes"
	deleteConflict deletion = "conflict"
	deleteDenied   deletion = "denied"
)

func mayDelete(goes, held, reason, foreign, right bool) deletion {
	switch {
	case goes && (!held || !reason):
		return deleteNothing
	case !held:
		return deleteGoes
	case !reason:
		return deleteConflict
	case foreign && !right:
		return deleteDenied
	}
	return deleteGoes
}

// end marks the claim deleted, unless it is, and releases the holds, at once.
func (cs *Claims) end(ctx context.Context, claim *resource.Claim, holds []*resource.Hold, r HoldRelease) error {
	changed := []resource.Object{}
	goes := claim.Metadata.DeletedAt == nil
	if goes {
		now := cs.core.clock().UTC()
		claim.Metadata.DeletedAt = &now
		changed = append(changed, claim)
	}
	for _, h := range holds {
		if cs.holds.release(h, r.By, r.Reason, string(resource.KindClaim)+"/"+claim.Metadata.Name) {
			changed = append(changed, h)
		}
	}
	list := make([]change, len(changed))
	for i, obj := range changed {
		value, err := encode(obj)
		if err != nil {
			return err
		}
		list[i] = changeOf(obj, obj, obj.Head().Metadata.Revision, value) // no rule is about what changes
	}
	revisions, err := cs.objects.transact(ctx, list, nil, false)
	if err != nil {
		return err
	}
	for i, obj := range changed {
		obj.Head().Metadata.Revision = revisions[i]
	}
	if goes {
		cs.core.logger.Info("resource deletion accepted", "kind", resource.KindClaim, "name", claim.Metadata.Name)
	}
	return nil
}

// foreign are the holds that somebody else owns.
func foreign(holds []*resource.Hold, by string) (out []*resource.Hold) {
	for _, h := range holds {
		if h.Spec.Owner != by {
			out = append(out, h)
		}
	}
	return out
}

// named names holds with their owners.
func named(holds []*resource.Hold) string {
	var who []string
	for _, h := range holds {
		who = append(who, fmt.Sprintf("hold %s (key %q, owner %q)", h.Metadata.Name, h.Spec.Key, h.Spec.Owner))
	}
	return joined(who)
}
