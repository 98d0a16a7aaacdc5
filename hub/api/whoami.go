package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// whoami tells callers who they are.
type whoami struct{ version string }

func (w whoami) routes(t *route.Table) {
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathWhoami, "whoami", "Say who calls, and what it may do", nil,
		route.Rule{Right: access.Read, Target: route.TargetNone}),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.Whoami], error) {
			who := route.Caller(ctx)
			out := protoapi.Whoami{Name: who.Name, Scope: who.Scope.MatchLabels, BreakGlass: who.BreakGlass, Issuer: who.Issuer, Subject: who.Subject, Hub: w.version}
			for _, r := range who.Roles {
				out.Roles = append(out.Roles, string(r))
			}
			for _, op := range access.Operations() {
				if access.MayAnywhere(who, op) {
					out.May = append(out.May, string(op))
				}
			}
			return &answer[protoapi.Whoami]{out}, nil
		})
}
