package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// HoldRequest asks for a hold. The same request again, by the same caller with
// the same key, returns the hold that it made the first time.
type HoldRequest struct {
	resource.HoldTerms
}

// ReleaseRequest releases a hold. Only its owner may; BreakGlass is the reason why
// somebody else does, and needs the right to it.
type ReleaseRequest struct {
	BreakGlass string `json:"breakGlass,omitempty"`
}

// ConfirmRequest says that a held server is down whose BMC does not answer.
type ConfirmRequest struct {
	Reason string `json:"reason"`
}

// PathHolds is the route that places a hold on a server.
func PathHolds(server string) string { return PathObject(resource.KindServer, server) + "/holds" }

// PathRelease is the route that releases a hold.
func PathRelease(id string) string { return PathObject(resource.KindHold, id) + "/release" }

// pathConfirmDown is the route that says that a held server is down.
func pathConfirmDown(id string) string {
	return PathObject(resource.KindHold, id) + "/confirm-down"
}

// Holds are the holds on servers.
type Holds struct{ hub *hub }

// Create places a hold on a server. Repeating it is safe.
func (h Holds) Create(ctx context.Context, server string, r HoldRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, h.hub.call(ctx, http.MethodPost, PathHolds(server), r, &out)
}

// Release releases a hold. Repeating it is safe.
func (h Holds) Release(ctx context.Context, id string, r ReleaseRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, h.hub.call(ctx, http.MethodPost, PathRelease(id), r, &out)
}

// ConfirmDown says that a held server is down. Repeating it is safe.
func (h Holds) ConfirmDown(ctx context.Context, id string, r ConfirmRequest) (*resource.Hold, error) {
	var out resource.Hold
	return &out, h.hub.call(ctx, http.MethodPost, pathConfirmDown(id), r, &out)
}
