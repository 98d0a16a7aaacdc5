package api

import (
	"context"
	"net/http"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// logins tells everybody with which OpenID provider persons log in, which is no secret: the provider shows its
// page to everybody too.
type logins struct {
	at func() (issuer, clientID string)
}

func (l logins) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathLogin, "login", "Say with which OpenID provider persons log in", nil, route.Rule{Open: true})
	op.Security = nil // who logs in has no token yet
	route.Register(t, op,
		func(context.Context, *noInput) (*answer[protoapi.Login], error) {
			issuer, clientID := l.at()
			return &answer[protoapi.Login]{protoapi.Login{Issuer: issuer, ClientID: clientID}}, nil
		})
}
