package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Support tells what the hub knows of itself; see package support. It is used concurrently.
type Support interface {
	Support() (protoapi.HubSupport, error)
}

// supports answers what a hub tells to whoever is to help.
type supports struct{ room Support } // nil is none

func (s supports) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathSupport, "support", "What the hub tells of itself to whoever is to help: file, last log lines and metrics, without secrets", nil,
		route.Rule{Right: access.AuditRead, Target: route.TargetWhole})
	route.Register(t, op, func(context.Context, *struct{}) (*answer[protoapi.HubSupport], error) {
		if s.room == nil {
			return nil, route.Problem(protocol.Errorf(protocol.CodeUnsupported, "support", "this hub tells nothing of itself"))
		}
		out, err := s.room.Support()
		return &answer[protoapi.HubSupport]{out}, route.Problem(err)
	})
}
