package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/store"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Rollouts are those of server groups.
type Rollouts interface {
	// CommandRollout says a command to a group's roll-out.
	CommandRollout(ctx context.Context, name string, r protoapi.RolloutRequest, by string) (protoapi.GroupAnswer, error)
}

func (a *API) registerRollouts() {
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindServerGroup)+"/{name}/rollout", "commandRollout",
		"Pause, resume or abort the roll-out of a group, or begin its next wave", reflect.TypeFor[protoapi.RolloutRequest]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.GroupAnswer], error) {
		var req protoapi.RolloutRequest
		if err := body("command roll-out", in.RawBody, &req); err != nil {
			return nil, err
		}
		if err := a.commands(ctx, in.Name, req.Command); err != nil {
			return nil, problem(err)
		}
		out, err := a.rooms.Rollouts.CommandRollout(ctx, in.Name, req, caller(ctx).Name)
		if err != nil {
			return nil, problem(err)
		}
		a.rooms.Status.Decorate(out.Group)
		return &answer[protoapi.GroupAnswer]{out}, nil
	})
}

// commands judges a command that lets a roll-out go on which discards disks: it takes the
// right that began it. Whoever may change the group may stop it.
func (a *API) commands(ctx context.Context, name string, c protoapi.RolloutCommand) error {
	g, err := store.Peek[*resource.ServerGroup](a.store, name)
	if err != nil || c != protoapi.RolloutResume && c != protoapi.RolloutNext {
		return nil //nolint:nilerr // a group that is not there is refused as such
	}
	if ro := g.Status.Rollout; ro == nil || ro.Strategy != resource.RolloutReprovision {
		return nil
	}
	return a.discards(ctx, g)
}

// discards judges who has servers of a group installed anew.
func (a *API) discards(ctx context.Context, g *resource.ServerGroup) error {
	who := caller(ctx)
	if v := access.May(who, access.Wipe, access.Target{}); v != access.Allowed {
		return denied(who, access.Wipe, v, "ServerGroup "+g.Metadata.Name+", whose roll-out discards disks,")
	}
	return nil
}

// reprovisions judges a group whose roll-outs newly install servers anew.
func (a *API) reprovisions(ctx context.Context, old, next resource.Object) error {
	g, ok := next.(*resource.ServerGroup)
	if !ok || g.Spec.Rollout.Strategy != resource.RolloutReprovision {
		return nil
	}
	if was, ok := old.(*resource.ServerGroup); ok && was != nil && was.Spec.Rollout.Strategy == resource.RolloutReprovision {
		return nil
	}
	return a.discards(ctx, g)
}
