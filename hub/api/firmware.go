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

// firmware takes marks of firmware work.
type firmware struct {
	room   Firmware
	status Decorator
}

func (f firmware) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/firmware", "firmware",
		"Mark firmware work that must not be interrupted, or end the mark; idempotent", reflect.TypeFor[protoapi.FirmwareRequest](),
		route.Rule{Right: access.Firmware, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.FirmwareRequest
		if err := route.Body("firmware", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := f.room.Mark(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(f.status, s, err)
	})
}

// Firmware has the marks of firmware work.
type Firmware interface {
	// Mark marks firmware work on a server, or ends the mark.
	Mark(ctx context.Context, server string, r protoapi.FirmwareRequest, by string) (*resource.Server, error)
}
