package api

import (
	"net/url"

	"rackboot/protocol/resource"
)

// The routes without parameters.
const (
	PathApply  = "/v1/apply"
	PathEvents = "/v1/events"
	PathJoin   = "/v1/join"
	PathRenew  = "/v1/renew"
	// PathIgnition gives an agent the user data that is sealed for it.
	PathIgnition = "/v1/ignition"
	// PathEnvBundle gives an agent the bundle of a boot environment that is sealed for it.
	PathEnvBundle = "/v1/envbundle"
	PathHealth    = "/healthz"
	PathReady     = "/readyz"
	PathOpenAPI   = "/openapi.json"
	PathWhoami    = "/v1/whoami"
	// PathAuthority is the certificate of the hub's authority, in PEM.
	PathAuthority = "/ca.pem"
)

// The headers of requests and answers.
const (
	// HeaderIdempotencyKey names an intent: the same request with the same key, by the
	// same caller, is acted on once and answered alike.
	HeaderIdempotencyKey = "Idempotency-Key"
	// HeaderReplayed is "true" in an answer that was given before.
	HeaderReplayed = "Idempotent-Replayed"
)

// QueryReleaseHolds is the query parameter of a claim's deletion that releases the
// holds on its server; its value is the reason.
const QueryReleaseHolds = "releaseHolds"

// MaxBody bounds the body of a request in bytes; a longer one is refused with
// status 413.
const MaxBody = 1 << 20

// PathKind is the route of all resources of a kind.
func PathKind(kind resource.Kind) string { return "/v1/" + kind.Plural() }

// PathObject is the route of one resource.
func PathObject(kind resource.Kind, name string) string {
	return PathKind(kind) + "/" + url.PathEscape(name)
}

// PathHolds is the route that places a hold on a server.
func PathHolds(server string) string { return PathObject(resource.KindServer, server) + "/holds" }

// PathRelease is the route that releases a hold.
func PathRelease(id string) string { return PathObject(resource.KindHold, id) + "/release" }

// PathConfirmDown is the route that says that a held server is down.
func PathConfirmDown(id string) string {
	return PathObject(resource.KindHold, id) + "/confirm-down"
}

// PathFirmware is the route that marks firmware work on a server.
func PathFirmware(server string) string {
	return PathObject(resource.KindServer, server) + "/firmware"
}

// PathDiscover is the route that asks for another discovery of a server.
func PathDiscover(server string) string {
	return PathObject(resource.KindServer, server) + "/discover"
}

// PathAnnotations is the route that takes a reboot annotation of metal3.
func PathAnnotations(server string) string {
	return PathObject(resource.KindServer, server) + "/annotations"
}

// PathServerRequests is the route that asks for a one-shot request.
func PathServerRequests(server string) string {
	return PathObject(resource.KindServer, server) + "/requests"
}

// PathRequest is the route of one request.
func PathRequest(id string) string { return "/v1/requests/" + url.PathEscape(id) }

// PathJoinToken is the route that makes a join token for a rack.
func PathJoinToken(rack string) string { return PathObject(resource.KindRack, rack) + "/join-token" }

// PathRevoke revokes an agent.
func PathRevoke(agent string) string { return PathObject(resource.KindAgent, agent) + "/revoke" }

// PathReplaceAgent ends the term of a rack's agent.
func PathReplaceAgent(rack string) string {
	return PathObject(resource.KindRack, rack) + "/replace-agent"
}
