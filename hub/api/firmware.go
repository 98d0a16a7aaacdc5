package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

func (a *API) registerFirmware() {
	op := a.operation(http.MethodPost, protoapi.PathKind(protocol.KindServer)+"/{name}/firmware", "firmware",
		"Mark firmware work that must not be interrupted, or end the mark; idempotent", reflect.TypeFor[protoapi.FirmwareRequest]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*protocol.Server], error) {
		var req protoapi.FirmwareRequest
		if err := body("firmware", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := a.fleet.Firmware(ctx, in.Name, req, caller(ctx).Name)
		return decorated(a, s, err)
	})
}
