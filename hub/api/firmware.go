package api

import (
	"context"
	"net/http"
	"reflect"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *API) registerFirmware() {
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/firmware", "firmware",
		"Mark firmware work that must not be interrupted, or end the mark; idempotent", reflect.TypeFor[protoapi.FirmwareRequest]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.FirmwareRequest
		if err := body("firmware", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := a.rooms.Firmware.Mark(ctx, in.Name, req, caller(ctx).Name)
		return decorated(a, s, err)
	})
}

// Firmware has the marks of firmware work.
type Firmware interface {
	// Mark marks firmware work on a server, or ends the mark.
	Mark(ctx context.Context, server string, r protoapi.FirmwareRequest, by string) (*resource.Server, error)
}
