package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *API) registerAnnotations() {
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/annotations", "annotate",
		"Hold or reboot a server by a reboot annotation of metal3", reflect.TypeFor[protoapi.AnnotationRequest]())
	register(a, op, a.annotate)
}

// annotate turns a reboot annotation into what it asks for. Its value is kept as the
// ref, as it was given.
func (a *API) annotate(ctx context.Context, in *namedBody) (*answer[protoapi.AnnotationAnswer], error) {
	const op = "annotate"
	var req protoapi.AnnotationRequest
	if err := body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	parsed, err := resource.ParseRebootAnnotation(req.Annotation, req.Value)
	if err != nil {
		return nil, problem(err)
	}
	if parsed.Key == "" {
		if !access.MayAnywhere(caller(ctx), access.Request) {
			return nil, problem(denied(caller(ctx), access.Request, access.DeniedRole, ""))
		}
		r, err := a.accept(ctx, in.Name, protoapi.RebootRequest{Mode: parsed.Mode, AnyPhase: parsed.Force, Ref: req.Value})
		if err != nil {
			return nil, problem(err)
		}
		status := requestStatus(r)
		return &answer[protoapi.AnnotationAnswer]{protoapi.AnnotationAnswer{Request: &status}}, nil
	}
	hold, err := a.store.CreateHold(ctx, &resource.Hold{Spec: resource.HoldSpec{
		Server:    in.Name,
		Owner:     caller(ctx).Name,
		HoldTerms: resource.HoldTerms{Key: parsed.Key, Mode: parsed.Mode, Ref: req.Value},
	}})
	if err != nil {
		return nil, problem(err)
	}
	a.rooms.Status.Decorate(hold)
	return &answer[protoapi.AnnotationAnswer]{protoapi.AnnotationAnswer{Hold: hold}}, nil
}
