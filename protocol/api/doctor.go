package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// PathDoctor is the route of what stands against an upgrade.
const PathDoctor = "/v1/doctor"

// DoctorFinding is one thing that somebody should look at before an upgrade of the hub or
// of servers.
type DoctorFinding struct {
	Code    resource.ConditionCode `json:"code"`
	Target  string                 `json:"target"` // Kind/name
	Message string                 `json:"message,omitempty"`
	// Blocks says that it should be dealt with first.
	Blocks bool `json:"blocks"`
}

// DoctorAnswer is everything that was found, what blocks first.
type DoctorAnswer struct {
	Version  string          `json:"version"` // of the hub
	Findings []DoctorFinding `json:"findings"`
}

// Doctor reads what stands against an upgrade.
func (c *Client) Doctor(ctx context.Context) (out DoctorAnswer, err error) {
	return out, c.hub.call(ctx, http.MethodGet, PathDoctor, nil, &out)
}
