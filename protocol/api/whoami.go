package api

import (
	"context"
	"net/http"
)

// Whoami is who calls, and what it may do.
type Whoami struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles" doc:"viewer, operator, fencer or admin"`
	// May are the operations that the roles give the right to.
	May []string `json:"may"`
	// Scope are the labels that servers and racks must have; empty is everything.
	Scope      map[string]string `json:"scope,omitempty"`
	BreakGlass bool              `json:"breakGlass,omitempty" doc:"may release what others hold, with a reason"`
	// Issuer and Subject are the OpenID provider that a person has logged in with, and as whom it knows the person;
	// empty for clients of the hub's file.
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Hub is the version of the hub that answers; one that is older than this field says none.
	Hub string `json:"hub,omitempty"`
}

// Whoami asks the hub who calls.
func (c *Client) Whoami(ctx context.Context) (out Whoami, err error) {
	err = c.hub.call(ctx, http.MethodGet, PathWhoami, nil, &out)
	return out, err
}

// Login is how a person logs in at a hub; it is told to everybody who asks.
type Login struct {
	// Issuer is the OpenID provider (OpenID Connect Core 1.0, section 2); empty if persons cannot log in.
	Issuer string `json:"issuer,omitempty"`
	// ClientID is that of rackctl at the provider.
	ClientID string `json:"clientID,omitempty"`
}

// Login asks the hub how persons log in. It needs no token.
func (c *Client) Login(ctx context.Context) (out Login, err error) {
	err = c.hub.call(ctx, http.MethodGet, PathLogin, nil, &out)
	return out, err
}
