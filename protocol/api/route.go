package api

import (
	"net/url"

	"rackboot/protocol"
)

// The routes without parameters.
const (
	PathApply   = "/v1/apply"
	PathEvents  = "/v1/events"
	PathJoin    = "/v1/join"
	PathHealth  = "/healthz"
	PathReady   = "/readyz"
	PathOpenAPI = "/openapi.json"
)

// QueryReleaseHolds is the query parameter of a claim's deletion that releases the
// holds on its server; its value is the reason.
const QueryReleaseHolds = "releaseHolds"

// MaxBody bounds the body of a request in bytes; a longer one is refused with
// status 413.
const MaxBody = 1 << 20

// PathKind is the route of all resources of a kind.
func PathKind(kind protocol.Kind) string { return "/v1/" + kind.Plural() }

// PathObject is the route of one resource.
func PathObject(kind protocol.Kind, name string) string {
	return PathKind(kind) + "/" + url.PathEscape(name)
}

// PathHolds is the route that places a hold on a server.
func PathHolds(server string) string { return PathObject(protocol.KindServer, server) + "/holds" }

// PathRelease is the route that releases a hold.
func PathRelease(id string) string { return PathObject(protocol.KindHold, id) + "/release" }

// PathConfirmDown is the route that says that a held server is down.
func PathConfirmDown(id string) string {
	return PathObject(protocol.KindHold, id) + "/confirm-down"
}

// PathFirmware is the route that marks firmware work on a server.
func PathFirmware(server string) string {
	return PathObject(protocol.KindServer, server) + "/firmware"
}

// PathAnnotations is the route that takes a reboot annotation of metal3.
func PathAnnotations(server string) string {
	return PathObject(protocol.KindServer, server) + "/annotations"
}

// PathServerRequests is the route that asks for a one-shot request.
func PathServerRequests(server string) string {
	return PathObject(protocol.KindServer, server) + "/requests"
}

// PathRequest is the route of one request.
func PathRequest(id string) string { return "/v1/requests/" + url.PathEscape(id) }

// PathJoinToken is the route that makes a join token for a rack.
func PathJoinToken(rack string) string { return PathObject(protocol.KindRack, rack) + "/join-token" }
