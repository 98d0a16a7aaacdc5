package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// Doctor looks for what is in the way of an upgrade.
type Doctor interface {
	// Doctor says what stands against an upgrade.
	Doctor() protoapi.DoctorAnswer
}

// doctor answers what is in the way of an upgrade.
type doctor struct{ room Doctor }

func (d doctor) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathDoctor, "doctor", "What stands against an upgrade of the hub or of servers", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole, Heavy: true})
	route.Register(t, op, func(context.Context, *struct{}) (*answer[protoapi.DoctorAnswer], error) {
		return &answer[protoapi.DoctorAnswer]{d.room.Doctor()}, nil
	})
}
