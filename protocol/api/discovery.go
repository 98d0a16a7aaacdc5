package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// DiscoverRequest asks for another discovery of a server. There is nothing to say.
type DiscoverRequest struct{}

// pathDiscover is the route that asks for another discovery of a server.
func pathDiscover(server string) string {
	return PathObject(resource.KindServer, server) + "/discover"
}

// Discover asks for another discovery of a server. Repeating it is safe.
func (s Servers) Discover(ctx context.Context, server string) (*resource.Server, error) {
	var out resource.Server
	return &out, s.hub.call(ctx, http.MethodPost, pathDiscover(server), DiscoverRequest{}, &out)
}
