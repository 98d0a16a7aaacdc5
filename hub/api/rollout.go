package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Rollouts are those of server groups.
type Rollouts interface {
	// CommandRollout says a command to a group's roll-out.
	CommandRollout(ctx context.Context, name string, r protoapi.RolloutRequest, by string) (protoapi.GroupAnswer, error)
}

// Upgrades are the roll-outs of agents' upgrades.
type Upgrades interface {
	// CommandUpgrade says a command to one.
	CommandUpgrade(ctx context.Context, name string, r protoapi.RolloutRequest, by string) (*resource.AgentUpgrade, error)
}

// rollouts commands the roll-outs of server groups, and of agents' upgrades.
type rollouts struct {
	objects  *store.Objects
	room     Rollouts
	upgrades Upgrades
	status   Decorator
}

func (r rollouts) routes(t *route.Table) {
	// The right of one that installs servers anew is judged further, in commands.
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServerGroup)+"/{name}/rollout", "commandRollout",
		"Pause, resume or abort the roll-out of a group, or begin its next wave", reflect.TypeFor[protoapi.RolloutRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindServerGroup, Noted: "rollout"})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.GroupAnswer], error) {
		var req protoapi.RolloutRequest
		if err := route.Body("command roll-out", in.RawBody, &req); err != nil {
			return nil, err
		}
		if err := r.commands(ctx, in.Name, req.Command); err != nil {
			return nil, route.Problem(err)
		}
		out, err := r.room.CommandRollout(ctx, in.Name, req, route.Caller(ctx).Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		r.status.Decorate(out.Group)
		return &answer[protoapi.GroupAnswer]{out}, nil
	})
	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindAgentUpgrade)+"/{name}/rollout", "commandUpgrade",
		"Pause, resume or abort the roll-out of an upgrade of agents, or begin its next wave", reflect.TypeFor[protoapi.RolloutRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindAgentUpgrade, Noted: "rollout"})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.AgentUpgrade], error) {
		var req protoapi.RolloutRequest
		if err := route.Body("command roll-out", in.RawBody, &req); err != nil {
			return nil, err
		}
		out, err := r.upgrades.CommandUpgrade(ctx, in.Name, req, route.Caller(ctx).Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		r.status.Decorate(out)
		return &answer[*resource.AgentUpgrade]{out}, nil
	})
}

// commands judges a command that lets a roll-out go on which discards disks: it takes the
// right that began it. Whoever may change the group may stop it.
func (r rollouts) commands(ctx context.Context, name string, c protoapi.RolloutCommand) error {
	g, err := store.Peek[*resource.ServerGroup](r.objects, name)
	if err != nil || c != protoapi.RolloutResume && c != protoapi.RolloutNext {
		return nil //nolint:nilerr // a group that is not there is refused as such
	}
	if ro := g.Status.Rollout; ro == nil || ro.Strategy != resource.RolloutReprovision {
		return nil
	}
	return discards(ctx, g)
}
