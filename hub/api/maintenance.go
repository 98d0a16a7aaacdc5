package api

import (
	"context"
	"net/http"
	"reflect"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// registerMaintenances: somebody who may say what the server boots gives or refuses it
// to a maintenance.
func (a *API) registerMaintenances() {
	for _, word := range []struct {
		id, action, summary string
		denied              bool
	}{
		{"approveMaintenance", protoapi.MaintenanceApprove, "Let a maintenance have its claimed server; idempotent", false},
		{"denyMaintenance", protoapi.MaintenanceDeny, "Refuse a maintenance its claimed server; idempotent", true},
	} {
		op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindMaintenance)+"/{name}/"+word.action, word.id, word.summary, reflect.TypeFor[protoapi.MaintenanceRequest]())
		register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Maintenance], error) {
			var req protoapi.MaintenanceRequest
			if err := body(word.action, in.RawBody, &req); err != nil {
				return nil, err
			}
			m, err := a.store.JudgeMaintenance(ctx, in.Name, resource.MaintenanceApproval{By: caller(ctx).Name, Reason: req.Reason, Denied: word.denied})
			return decorated(a, m, err)
		})
	}
}
