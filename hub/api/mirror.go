package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// mirrors shows what agents have of package repositories, and has them forget it.
type mirrors struct{ room Mirrors }

func (x mirrors) routes(t *route.Table) {
	one := protoapi.PathKind(resource.KindRack) + "/{name}/mirror"
	op := t.Operation(http.MethodGet, one, "readMirror",
		"Read what a rack has of package repositories; waits for the rack's agent", nil,
		route.Rule{Right: access.Read, Target: route.TargetNamed, Kind: resource.KindRack})
	route.Register(t, op, func(ctx context.Context, in *named) (*answer[resource.MirrorStatus], error) {
		s, err := x.room.Mirror(ctx, in.Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[resource.MirrorStatus]{s}, nil
	})
	op = t.Operation(http.MethodPost, one+"/flush", "flushMirror",
		"Have a rack forget what it has cached of package repositories; waits for the rack's agent; idempotent", reflect.TypeFor[protoapi.FlushRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindRack, Noted: "flush"})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[resource.MirrorFlushed], error) {
		const op = "flush mirror"
		var req protoapi.FlushRequest
		if err := route.Body(op, in.RawBody, &req); err != nil {
			return nil, err
		}
		if len(req.What) > resource.MaxMirrorWhat {
			return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, op, "what has more than %d bytes", resource.MaxMirrorWhat).
				WithHint("name a URL, or a path from \"/\""))
		}
		f, err := x.room.Flush(ctx, in.Name, req)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[resource.MirrorFlushed]{f}, nil
	})
}

// Mirrors are what agents have of package repositories.
type Mirrors interface {
	// Mirror has the rack's agent say what it has.
	Mirror(ctx context.Context, rack string) (resource.MirrorStatus, error)
	// Flush has the rack's agent forget what it has cached.
	Flush(ctx context.Context, rack string, r protoapi.FlushRequest) (resource.MirrorFlushed, error)
}
