package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol/resource"
)

// RebootRequest asks for one reboot, or for one power-off of a server that no claim
// wants On. The same Ref again, by the same caller for the same server and action, is
// the same request while that has not ended.
type RebootRequest struct {
	Action resource.RequestAction `json:"action,omitempty"` // default reboot
	Mode   resource.StopMode      `json:"mode,omitempty"`   // default soft
	// AnyPhase and Ref as in [resource.Request].
	AnyPhase bool   `json:"anyPhase,omitempty"`
	Ref      string `json:"ref,omitempty"`
	// Reason is why; a resume needs one. Retry as in [resource.Request].
	Reason string `json:"reason,omitempty"`
	Retry  bool   `json:"retry,omitempty"`
	// NotAfter is when the request is void if it was not begun; default in 10
	// minutes, at most in 24 hours.
	NotAfter *time.Time `json:"notAfter,omitempty"`
}

// RequestStatus is a one-shot request and what became of it.
type RequestStatus struct {
	resource.Request
	Rack      string                 `json:"rack"`
	Report    resource.RequestReport `json:"report"`
	CreatedAt time.Time              `json:"createdAt"`
	// Taken says that its agent has taken it, and does it as soon as nothing stands before it.
	Taken bool `json:"taken,omitempty"`
}

// RequestList are requests, the oldest first. Those that ended are forgotten some time after.
type RequestList struct {
	Items []RequestStatus `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// PathRequests is the route that lists requests.
const PathRequests = "/v1/requests"

// PathServerRequests is the route that asks for a one-shot request.
func PathServerRequests(server string) string {
	return PathObject(resource.KindServer, server) + "/requests"
}

// pathRequest is the route of one request.
func pathRequest(id string) string { return PathRequests + "/" + url.PathEscape(id) }

// PathCancel is the route that takes a request back.
func PathCancel(id string) string { return pathRequest(id) + "/cancel" }

// Requests are reboots that somebody asked for.
type Requests struct{ hub *hub }

// Reboot asks for one reboot. It is not safe to repeat.
func (q Requests) Reboot(ctx context.Context, server string, r RebootRequest) (out RequestStatus, err error) {
	err = q.hub.call(ctx, http.MethodPost, PathServerRequests(server), r, &out)
	return out, err
}

// List reads those of a server, or with an empty name of all servers.
func (q Requests) List(ctx context.Context, server string) ([]RequestStatus, error) {
	path := PathRequests
	if server != "" {
		path += "?" + url.Values{"server": {server}}.Encode()
	}
	var out RequestList
	err := q.hub.call(ctx, http.MethodGet, path, nil, &out)
	if err == nil {
		err = out.Incomplete.Err("list requests")
	}
	return out.Items, err
}

// Cancel takes a request back, if nothing was sent for it. Repeating it is safe.
func (q Requests) Cancel(ctx context.Context, id string) (out RequestStatus, err error) {
	err = q.hub.call(ctx, http.MethodPost, PathCancel(id), nil, &out)
	return out, err
}

// Get reads a one-shot request.
func (q Requests) Get(ctx context.Context, id string) (out RequestStatus, err error) {
	err = q.hub.call(ctx, http.MethodGet, pathRequest(id), nil, &out)
	return out, err
}
