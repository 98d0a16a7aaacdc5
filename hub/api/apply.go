package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// applies writes sets of resources.
type applies struct {
	objects *store.Objects
	sets    *store.Sets
	reboots reboots
}

func (a applies) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathApply, "apply",
		"Create or change a set of resources; all are checked before any is written", reflect.TypeFor[protoapi.ApplyRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetEach})
	route.Register(t, op, a.apply)
}

func (a applies) apply(ctx context.Context, in *bodyInput) (*answer[protoapi.ApplyAnswer], error) {
	const op = "apply"
	var req protoapi.ApplyRequest
	if err := route.Body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	objs := make([]resource.Object, len(req.Objects))
	var bad store.ApplyErrors
	for i, raw := range req.Objects {
		obj, wrong := route.Object(raw)
		objs[i] = obj
		if len(wrong) == 0 {
			continue
		}
		e := store.ApplyError{Index: i, FieldErrors: wrong}
		if obj != nil {
			e.Kind, e.Name = obj.Head().Kind, obj.Head().Metadata.Name
		}
		bad = append(bad, e)
	}
	if len(bad) > 0 {
		return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, op, "%w", bad).
			WithHint("nothing was changed; correct the fields that are named"))
	}
	opts := store.ApplyOptions{DryRun: req.DryRun, By: route.Caller(ctx).Name, Guard: guard(ctx, a.objects, objs)}
	res, asks, err := a.reboots.apply(ctx, a.sets, objs, opts)
	if err != nil {
		return nil, route.Problem(err)
	}
	out := &answer[protoapi.ApplyAnswer]{}
	out.Body.Results = make([]protoapi.ApplyResult, len(res))
	for i, r := range res {
		m := r.Object.Head().Metadata
		out.Body.Results[i] = protoapi.ApplyResult{
			Kind: r.Kind, Name: r.Name, Outcome: string(r.Outcome), Generation: m.Generation, Revision: m.Revision,
		}
	}
	results(asks, out.Body.Results)
	return out, nil
}
