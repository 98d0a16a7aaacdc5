package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// annotations takes the reboot annotations of metal3 one by one; those of applied objects are for
// [reboots].
type annotations struct {
	objects  *store.Objects
	holds    *store.Holds
	requests requests
	status   Decorator
}

func (a annotations) routes(t *route.Table) {
	for _, kind := range []resource.Kind{resource.KindServer, resource.KindClaim} {
		op := t.Operation(http.MethodPost, protoapi.PathKind(kind)+"/{name}/annotations", "annotate"+string(kind),
			"Hold or reboot a server by a reboot annotation of metal3, or release a hold of one's own", reflect.TypeFor[protoapi.AnnotationRequest](),
			route.Rule{Right: access.Hold, Target: route.TargetNamed, Kind: kind, Hold: true})
		route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.AnnotationAnswer], error) {
			out, err := a.annotate(ctx, kind, in)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.AnnotationAnswer]{out}, nil
		})
	}
}

// annotate turns a reboot annotation into what it asks for. Its value is kept as the
// ref, as it was given.
func (a annotations) annotate(ctx context.Context, kind resource.Kind, in *namedBody) (out protoapi.AnnotationAnswer, err error) {
	const op = "annotate"
	var req protoapi.AnnotationRequest
	if err := route.Body(op, in.RawBody, &req); err != nil {
		return out, err
	}
	if req.Remove {
		req.Value = ""
	}
	parsed, err := resource.ParseRebootAnnotation(req.Annotation, req.Value)
	if err != nil {
		return out, err
	}
	obj, err := a.objects.Get(kind, in.Name)
	if err != nil {
		return out, err
	}
	server, who := serverOf(obj), route.Caller(ctx)
	switch {
	case server == "":
		return out, protocol.Errorf(protocol.CodeConflict, op, "claim %q has no server yet", in.Name).WithHint("hold one by its name: rackctl hold SERVER")
	case req.Remove:
		return a.remove(ctx, kind, in.Name, server, req.Annotation, parsed.Key)
	case parsed.Key == "":
		if !access.MayAnywhere(who, access.Request) {
			return out, route.Denied(who, access.Request, access.DeniedRole, "")
		}
		r, err := a.requests.accept(ctx, server, protoapi.RebootRequest{Mode: parsed.Mode, AnyPhase: parsed.Force, Ref: req.Value})
		if err != nil {
			return out, err
		}
		status := a.requests.shown(r)
		return protoapi.AnnotationAnswer{Request: &status}, nil
	}
	held := heldBy(a.holds, who.Name)
	moves, err := plan.Reboots(who.Name, server, nil, map[string]string{req.Annotation: req.Value}, held)
	if err != nil {
		return out, err
	}
	if len(moves) == 0 {
		out.Unchanged, out.Hold = true, held(server, parsed.Key)
	}
	for _, m := range moves {
		if out.Hold, err = a.holds.Create(ctx, &resource.Hold{Spec: holdOf(m)}); err != nil {
			return out, err
		}
	}
	a.status.Decorate(out.Hold)
	return out, nil
}

// remove releases the caller's hold with a key, and forgets what its last apply has set.
func (a annotations) remove(ctx context.Context, kind resource.Kind, name, server, annotation, key string) (out protoapi.AnnotationAnswer, err error) {
	who := route.Caller(ctx)
	if key == "" {
		return out, protocol.Errorf(protocol.CodeConflict, "annotate", "a reboot that was asked for is a request, and no state that is taken away").
			WithHint("rackctl get requests lists them; rackctl cancel REQUEST takes back one that has not begun")
	}
	if !access.MayAnywhere(who, access.Release) {
		return out, route.Denied(who, access.Release, access.DeniedRole, "")
	}
	if h := heldBy(a.holds, who.Name)(server, key); h == nil {
		out.Unchanged = true
	} else if out.Hold, err = a.holds.Release(ctx, h.Metadata.Name, who.Name, ""); err != nil {
		return out, err
	} else {
		a.status.Decorate(out.Hold)
	}
	return out, a.objects.Change(ctx, kind, name, func(obj resource.Object) bool {
		sets := resource.Reboots(obj)
		before := len(*sets)
		*sets = slices.DeleteFunc(*sets, func(s resource.RebootSet) bool { return s.By == who.Name && s.Annotation == annotation })
		return len(*sets) != before
	})
}
