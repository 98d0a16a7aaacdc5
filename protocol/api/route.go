package api

import (
	"net/url"
	"strings"

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
	// PathSchemas is the folder of the JSON Schemas of kinds.
	PathSchemas = "/schemas/"
	// PathLogin says with which OpenID provider persons log in.
	PathLogin = "/v1/login"
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

// The query parameters of a list of resources.
const (
	QueryLimit    = "limit"
	QueryAfter    = "after"
	QuerySelector = "selector"
	QueryField    = "field"
	QueryOnly     = "only"
	QueryAs       = "as"
	QueryWide     = "wide"
)

// AsTable is the value of [QueryAs] that asks for the rows of a table.
const AsTable = "table"

// MaxPage bounds the resources of one page.
const MaxPage = 1000

// MaxBody bounds the body of a request in bytes; a longer one is refused with
// status 413.
const MaxBody = 1 << 20

// PathKind is the route of all resources of a kind.
func PathKind(kind resource.Kind) string { return "/v1/" + kind.Plural() }

// PathSchema is the route of the JSON Schema of a kind; of a file with any kinds for none.
func PathSchema(kind resource.Kind) string {
	if kind == "" {
		return PathSchemas + "manifest.json"
	}
	return PathSchemas + strings.ToLower(string(kind)) + ".json"
}

// PathObject is the route of one resource.
func PathObject(kind resource.Kind, name string) string {
	return PathKind(kind) + "/" + url.PathEscape(name)
}
