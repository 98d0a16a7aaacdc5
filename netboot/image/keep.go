package image

import (
	"net/http"
	"strings"

	"rackboot/protocol"
)

// keep lets a request go out with what its host may know of the account.
func (g *guard) keep(req *http.Request) (*http.Request, error) {
	authorization := req.Header.Get("Authorization")
	what, way := sendsNothing, wayClosed
	switch {
	// A login can be in the form by which OAuth 2 asks for a token (RFC 6749, section 4.3).
	case req.Method == http.MethodPost || strings.HasPrefix(strings.ToLower(authorization), "basic "):
		what = sendsLogin
	case authorization != "":
		what = sendsToken
	}
	if req.URL.Scheme != "https" && !loopback(req.URL.Host) {
		way = wayPlain
	}
	switch keepRule(!g.account.none(), what, g.account.givenTo(req.URL.Host, g.host), way) {
	case keptPlain:
		return nil, protocol.Errorf(protocol.CodeDenied, "registry", "the account of %s is not sent over plain HTTP", g.host).
			WithHint("give %s a certificate", req.URL.Host)
	case keptElsewhere:
		return nil, protocol.Errorf(protocol.CodeDenied, "registry", "%s wants its account sent to %s, which is not among its token hosts", g.host, req.URL.Host).
			WithHint("if %s gives out the tokens of %s, list it under tokenHosts of the account", req.URL.Host, g.host)
	case keptBare:
		bare := req.Clone(req.Context())
		bare.Header.Del("Authorization")
		return bare, nil
	case keptNot:
	}
	return req, nil
}

// sends is what of an account a request has.
type sends string

const (
	sendsNothing sends = "nothing"
	sendsToken   sends = "token"
	sendsLogin   sends = "login" // name and password
)

// openness says who reads a request along.
type openness string

const (
	wayPlain  openness = "plain" // everybody between us and another machine
	wayClosed openness = "closed"
)

// kept is what becomes of a request.
type kept string

const (
	keptNot       kept = "as it is"
	keptPlain     kept = "refused as plain"
	keptElsewhere kept = "refused as elsewhere"
	keptBare      kept = "without it"
)

// keepRule says what becomes of a request to a registry, or to where it sends its
// clients. That it sends them on does not give that place their login (RFC 9110, section
// 15.4); where it wants it for a token, the account says. The first row that fits decides.
//
//	account | sends   | given | way    | outcome
//	no      | *       | *     | *      | as it is
//	yes     | nothing | *     | *      | as it is
//	yes     | *       | yes   | plain  | refused as plain
//	yes     | *       | yes   | closed | as it is
//	yes     | token   | no    | *      | without it
//	yes     | login   | no    | *      | refused as elsewhere
//
// given is the registry itself and the account's token hosts.
func keepRule(account bool, what sends, given bool, way openness) kept {
	switch {
	case !account || what == sendsNothing:
		return keptNot
	case given && way == wayPlain:
		return keptPlain
	case given:
		return keptNot
	case what == sendsToken:
		return keptBare
	}
	return keptElsewhere
}
