package api

import (
	"context"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol/resource"
)

// discards judges who has servers of a group installed anew.
func discards(ctx context.Context, g *resource.ServerGroup) error {
	who := route.Caller(ctx)
	if v := access.May(who, access.Wipe, access.Target{}); v != access.Allowed {
		return route.Denied(who, access.Wipe, v, "ServerGroup "+g.Metadata.Name+", whose roll-out discards disks,")
	}
	return nil
}

// reprovisions judges a group whose roll-outs newly install servers anew.
func reprovisions(ctx context.Context, old, next resource.Object) error {
	g, ok := next.(*resource.ServerGroup)
	if !ok || g.Spec.Rollout.Strategy != resource.RolloutReprovision {
		return nil
	}
	if was, ok := old.(*resource.ServerGroup); ok && was != nil && was.Spec.Rollout.Strategy == resource.RolloutReprovision {
		return nil
	}
	return discards(ctx, g)
}
