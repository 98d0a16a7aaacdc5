package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"net/http"
	"slices"
	"strings"

	"rackboot/hub/access"
)

// authenticate says who sends a request: by its token where it has one, else by its
// client certificate. A token that is wrong is not made good by a certificate.
func (a *API) authenticate(r *http.Request) (who access.Caller, ok bool) {
	if r.Header.Get("Authorization") != "" || r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return a.byToken(r)
	}
	return a.byCertificate(r.TLS.VerifiedChains)
}

// Caller says who sends a request to another listener of the hub, with the same TLS.
func (a *API) Caller(r *http.Request) (who access.Caller, ok bool) { return a.authenticate(r) }

// Throttled counts a request to another listener of the hub, of a caller or with a wrong token
// if who is empty, and reports whether there were too many of that caller or from that address.
func (a *API) Throttled(r *http.Request, who string) bool {
	by := "source"
	if who != "" {
		by = "caller"
	}
	_, after := a.limits.admit(r, who, who != "")
	if after > 0 {
		a.metrics.limited.WithLabelValues(by).Inc()
	}
	return after > 0
}

// Agent is the name of the agent that sends a request to another listener of the hub, with
// the same TLS; empty if none does.
func (a *API) Agent(r *http.Request) string {
	if r.TLS == nil {
		return ""
	}
	return a.agentOf(r.TLS.VerifiedChains)
}

// byToken compares digests, and always all of them, so that the time tells neither a
// token nor its length, nor whose it is.
func (a *API) byToken(r *http.Request) (who access.Caller, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	at := -1
	for i := range a.callers {
		same := subtle.ConstantTimeCompare(sum[:], a.callers[i].token[:])
		if !a.callers[i].byToken {
			same = 0
		}
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 || !strings.EqualFold(scheme, "Bearer") {
		return access.Caller{}, false
	}
	return a.callers[at].Caller, true
}

// byCertificate knows a caller by the common name of a certificate that TLS has
// verified: one of an authority for clients, or one of the hub's authority that it
// signed for a client. An agent's certificate is of the hub's authority too, and is
// nobody's here.
func (a *API) byCertificate(chains [][]*x509.Certificate) (who access.Caller, ok bool) {
	for _, chain := range chains {
		leaf, root := chain[0], chain[len(chain)-1]
		marked := slices.Equal(leaf.Subject.OrganizationalUnit, []string{access.ClientUnit})
		if !marked && !slices.ContainsFunc(a.clientCAs, root.Equal) {
			continue
		}
		for _, k := range a.callers {
			if k.commonName != "" && k.commonName == leaf.Subject.CommonName {
				return k.Caller, true
			}
		}
	}
	return access.Caller{}, false
}
