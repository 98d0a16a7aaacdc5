package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// PathSupport is the route of what a hub tells to whoever is to help.
const PathSupport = "/v1/support"

// HubSupport is a hub as it knows itself, without what has the form of a secret.
type HubSupport struct {
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	// Config is the hub's file as it is in force.
	Config json.RawMessage `json:"config"`
	// Log is its last lines, at most 4,000 and 2 MiB.
	Log string `json:"log"`
	// Metrics is its metrics page, of which MetricsCut says that it ends early, after 8 MiB.
	Metrics    string `json:"metrics"`
	MetricsCut bool   `json:"metricsCut,omitempty"`
}

// Support reads what the hub tells of itself. It is an admin's to ask.
func (c *Client) Support(ctx context.Context) (out HubSupport, err error) {
	return out, c.hub.call(ctx, http.MethodGet, PathSupport, nil, &out)
}
