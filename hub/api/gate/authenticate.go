package gate

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"net/http"
	"strings"

	"rackboot/hub/access"
	"rackboot/protocol"
)

// of returns who sends a request: by its token where it has one, else by its
// client certificate. A token that is wrong is not made good by a certificate. The tokens of
// the hub's file are looked at first, so that they need nobody else.
//
// Errors: denied if nobody is known to send it; unavailable if it cannot be told now.
func (c *callers) of(ctx context.Context, r *http.Request) (access.Caller, error) {
	if r.Header.Get("Authorization") == "" && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		if who, ok := c.byCertificate(r.TLS.VerifiedChains); ok {
			return who, nil
		}
		return access.Caller{}, stranger()
	}
	if who, ok := c.byToken(r); ok {
		return who, nil
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); c.people != nil && strings.EqualFold(scheme, "Bearer") && strings.Count(token, ".") == 2 {
		return c.people.Caller(ctx, token)
	}
	return access.Caller{}, stranger()
}

func stranger() error {
	return protocol.Errorf(protocol.CodeDenied, "authenticate", "the token is missing or wrong").
		WithHint("rackctl login gives one to rackctl; a client certificate must be one that clients of hub.yaml names")
}

// byToken compares digests, and always all of them, so that the time tells neither a
// token nor its length, nor whose it is.
func (c *callers) byToken(r *http.Request) (who access.Caller, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	at := -1
	for i := range c.known {
		same := subtle.ConstantTimeCompare(sum[:], c.known[i].token[:])
		if !c.known[i].byToken {
			same = 0
		}
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 || !strings.EqualFold(scheme, "Bearer") {
		return access.Caller{}, false
	}
	return c.known[at].Caller, true
}

// byCertificate knows a caller by the common name of a certificate that TLS has
// verified: one of an authority for clients, or one of the hub's authority that it
// signed for a client. An agent's certificate is of the hub's authority too, and is
// nobody's here.
func (c *callers) byCertificate(chains [][]*x509.Certificate) (who access.Caller, ok bool) {
	for _, chain := range chains {
		if !c.authorities.Vouch(chain) {
			continue
		}
		for _, k := range c.known {
			if k.commonName != "" && k.commonName == chain[0].Subject.CommonName {
				return k.Caller, true
			}
		}
	}
	return access.Caller{}, false
}
