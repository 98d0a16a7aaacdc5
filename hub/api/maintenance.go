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

// maintenances has the decisions on maintenances: somebody who may say what a server boots gives it
// to a maintenance, or refuses.
type maintenances struct {
	maintenances *store.Maintenances
	status       Decorator
}

func (m maintenances) routes(t *route.Table) {
	for _, word := range []struct {
		id, action, summary string
		denied              bool
	}{
		{"approveMaintenance", protoapi.MaintenanceApprove, "Let a maintenance have its claimed server; idempotent", false},
		{"denyMaintenance", protoapi.MaintenanceDeny, "Refuse a maintenance its claimed server; idempotent", true},
	} {
		op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindMaintenance)+"/{name}/"+word.action, word.id, word.summary, reflect.TypeFor[protoapi.MaintenanceRequest](),
			route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindMaintenance, Noted: word.action})
		route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Maintenance], error) {
			var req protoapi.MaintenanceRequest
			if err := route.Body(word.action, in.RawBody, &req); err != nil {
				return nil, err
			}
			judged, err := m.maintenances.Judge(ctx, in.Name, resource.MaintenanceApproval{By: route.Caller(ctx).Name, Reason: req.Reason, Denied: word.denied})
			return decorated(m.status, judged, err)
		})
	}
}
