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

// annotations takes the reboot annotations of metal3.
type annotations struct {
	holds    *store.Holds
	requests requests
	status   Decorator
}

func (a annotations) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/annotations", "annotate",
		"Hold or reboot a server by a reboot annotation of metal3", reflect.TypeFor[protoapi.AnnotationRequest](),
		route.Rule{Right: access.Hold, Target: route.TargetNamed, Kind: resource.KindServer, Hold: true})
	route.Register(t, op, a.annotate)
}

// annotate turns a reboot annotation into what it asks for. Its value is kept as the
// ref, as it was given.
func (a annotations) annotate(ctx context.Context, in *namedBody) (*answer[protoapi.AnnotationAnswer], error) {
	const op = "annotate"
	var req protoapi.AnnotationRequest
	if err := route.Body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	parsed, err := resource.ParseRebootAnnotation(req.Annotation, req.Value)
	if err != nil {
		return nil, route.Problem(err)
	}
	if parsed.Key == "" {
		if !access.MayAnywhere(route.Caller(ctx), access.Request) {
			return nil, route.Problem(route.Denied(route.Caller(ctx), access.Request, access.DeniedRole, ""))
		}
		r, err := a.requests.accept(ctx, in.Name, protoapi.RebootRequest{Mode: parsed.Mode, AnyPhase: parsed.Force, Ref: req.Value})
		if err != nil {
			return nil, route.Problem(err)
		}
		status := requestStatus(r)
		return &answer[protoapi.AnnotationAnswer]{protoapi.AnnotationAnswer{Request: &status}}, nil
	}
	hold, err := a.holds.Create(ctx, &resource.Hold{Spec: resource.HoldSpec{
		Server:    in.Name,
		Owner:     route.Caller(ctx).Name,
		HoldTerms: resource.HoldTerms{Key: parsed.Key, Mode: parsed.Mode, Ref: req.Value},
	}})
	if err != nil {
		return nil, route.Problem(err)
	}
	a.status.Decorate(hold)
	return &answer[protoapi.AnnotationAnswer]{protoapi.AnnotationAnswer{Hold: hold}}, nil
}
