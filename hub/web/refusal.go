package web

import (
	"encoding/json"

	"rackboot/protocol"
)

// refusal is why somebody comes back from the provider without a session. What the provider, or a link, says is never
// shown: the page has a sentence for each word. The audit log has the rest.
type refusal string

const (
	refusedStale    refusal = "stale"    // it is no answer to this browser's question
	refusedProvider refusal = "provider" // the provider says no
	refusedAnswer   refusal = "answer"   // its code or ID token does not count
	refusedPerson   refusal = "person"   // who it is may do nothing
	refusedAway     refusal = "away"     // the provider is not reached
	refusedFull     refusal = "full"     // the hub takes no session now
	refusedOften    refusal = "often"    // too many from there
	refusedOff      refusal = "off"      // nobody logs in with a provider any more
)

// said is a refusal as the page shows it, in the fields of a problem.
type said struct {
	Code   protocol.Code `json:"code"`
	Detail string        `json:"detail"`
	Hint   string        `json:"hint"`
}

func refusals() map[refusal]said {
	return map[refusal]said{
		refusedStale:    {protocol.CodeDenied, "this login took too long, or began in another browser or another window", "log in once more, here and within 10 minutes"},
		refusedProvider: {protocol.CodeDenied, "the provider did not log you in", "log in once more; if it stays so, its client for the page must have this hub's redirect (docs/guide/oidc.md)"},
		refusedAnswer:   {protocol.CodeInvalid, "what the provider answered does not count here", "log in once more; if it stays so, the audit log says what is wrong with the client or its secret, and compare the clocks"},
		refusedPerson:   {protocol.CodeDenied, "the provider knows you, and this hub lets you do nothing", "have one of your groups put into oidc.groups of hub.yaml; the audit log says what the ID token lacks"},
		refusedAway:     {protocol.CodeUnavailable, "the hub does not reach the provider", "try again when it is back; a token of hub.yaml works without it"},
		refusedFull:     {protocol.CodeUnavailable, "the hub takes no further session now", "try again in some minutes; rackctl needs none"},
		refusedOften:    {protocol.CodeUnavailable, "there were too many logins from this address", "wait a minute, then try again"},
		refusedOff:      {protocol.CodeUnsupported, "this hub has no login with a provider", "log in with a token; oidc.page of hub.yaml names a provider's client"},
	}
}

// refusalsJSON is the table for the page.
func refusalsJSON() ([]byte, error) { return json.Marshal(refusals()) }
