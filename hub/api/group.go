package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Groups is what the API asks about server groups.
type Groups interface {
	// ActOnGroup does what somebody wants of a group.
	ActOnGroup(ctx context.Context, name string, action protoapi.GroupAction, r protoapi.GroupRequest, by string) (protoapi.GroupAnswer, error)
	// DiffGroup is how two revisions of a group differ; 0 is the current one, and the one
	// before it.
	DiffGroup(name string, from, to int) (protoapi.GroupDiff, error)
}

type groupDiffInput struct {
	Name string `path:"name" doc:"metadata.name of the group"`
	From int    `query:"from" doc:"number of the first revision; 0 is the one before the other"`
	To   int    `query:"to" doc:"number of the second revision; 0 is the current one"`
}

// groups has what is done to server groups besides their roll-outs.
type groups struct {
	room   Groups
	status Decorator
}

func (g groups) routes(t *route.Table) {
	base := protoapi.PathKind(resource.KindServerGroup) + "/{name}/"
	for _, w := range []struct {
		action      protoapi.GroupAction
		id, summary string
	}{
		{protoapi.GroupAdopt, "adoptGroup", "Give a group with an image of its owner's own to the catalogue; idempotent"},
		{protoapi.GroupAck, "ackGroup", "Apply to a group again that somebody else changed each time; idempotent"},
		{protoapi.GroupPin, "pinGroup", "Keep a group at its current revision; idempotent"},
		{protoapi.GroupUnpin, "unpinGroup", "Let a group follow its catalogue again; idempotent"},
		{protoapi.GroupRevert, "revertGroup", "Return a group to an older revision, and pin it"},
	} {
		op := t.Operation(http.MethodPost, base+string(w.action), w.id, w.summary, reflect.TypeFor[protoapi.GroupRequest](),
			route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindServerGroup, Noted: string(w.action)})
		route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.GroupAnswer], error) {
			var req protoapi.GroupRequest
			if err := route.Body(string(w.action)+" group", in.RawBody, &req); err != nil {
				return nil, err
			}
			out, err := g.room.ActOnGroup(ctx, in.Name, w.action, req, route.Caller(ctx).Name)
			if err != nil {
				return nil, route.Problem(err)
			}
			g.status.Decorate(out.Group)
			return &answer[protoapi.GroupAnswer]{out}, nil
		})
	}
	op := t.Operation(http.MethodGet, base+"diff", "diffGroup", "How two revisions of a group differ", nil,
		route.Rule{Right: access.Read, Target: route.TargetNamed, Kind: resource.KindServerGroup})
	route.Register(t, op, func(_ context.Context, in *groupDiffInput) (*answer[protoapi.GroupDiff], error) {
		out, err := g.room.DiffGroup(in.Name, in.From, in.To)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[protoapi.GroupDiff]{out}, nil
	})
}
