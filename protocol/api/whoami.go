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
}

// Whoami asks the hub who calls.
func (c *Client) Whoami(ctx context.Context) (out Whoami, err error) {
	err = c.hub.call(ctx, http.MethodGet, PathWhoami, nil, &out)
	return out, err
}
