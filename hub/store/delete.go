package store

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Delete is what people ask for. For a Claim it is [Claims.Delete] without a release. A
// Maintenance is given metadata.deletedAt while it is active, and removed with [Objects.Remove]
// when its server was proved Off; another one is removed at once. Any other resource is removed at once, unless something refers to it: that is a
// conflict which names who. A rack whose Agent is gone may be joined by another;
// the deleted one starts nothing any more when it hears of it. Holds and boot
// configurations cannot be deleted. The result is the resource as it is, or was.
//
// The codes are not_found, conflict, unsupported, unavailable and timeout, and those of
// the guards.
func (s *Store) Delete(ctx context.Context, kind resource.Kind, name string, guards ...Guard) (resource.Object, error) {
	op := "delete " + string(kind)
	switch kind {
	case resource.KindClaim:
		return s.Claims.Delete(ctx, name, HoldRelease{}, guards...)
	case resource.KindMaintenance:
		return s.Maintenances.delete(ctx, name, guards...)
	case resource.KindHold:
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "a hold is released, not deleted").WithHint("rackctl release %s", name)
	case resource.KindBootConfiguration:
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the hub makes boot configurations").
			WithHint("delete the claim that it belongs to")
	case resource.KindGroupRevision:
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "a group's history is not changed").
			WithHint("the hub removes what is beyond spec.historyLimit; rackctl group revert GROUP NUMBER returns to another revision")
	default:
	}
	return s.Objects.erase(ctx, op, kind, name, guards...)
}
