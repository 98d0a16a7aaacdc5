package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	protoapi "rackboot/protocol/api"
)

func (a *API) registerWhoami() {
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathWhoami, "whoami", "Say who calls, and what it may do", nil),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.Whoami], error) {
			who := caller(ctx)
			out := protoapi.Whoami{Name: who.Name, Scope: who.Scope.MatchLabels, BreakGlass: who.BreakGlass}
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
