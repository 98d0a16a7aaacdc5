package gate

import (
	"context"
	"crypto/x509"
	"net/http"

	"rackboot/hub/access"
	"rackboot/protocol"
)

// Other listeners of the hub, with the same TLS, ask the gate who calls and have it record what is
// done.

// Caller returns who sends a request. ok is false when nobody is known to send it.
func (g *Gate) Caller(r *http.Request) (who access.Caller, ok bool) {
	who, err := g.callers.Load().of(r.Context(), r)
	return who, err == nil
}

// Known returns who sends a request. The code is denied for nobody, and unavailable if it cannot be told now.
func (g *Gate) Known(r *http.Request) (access.Caller, error) {
	return g.callers.Load().of(r.Context(), r)
}

// Login returns where persons log in, and the id of rackctl there; both are empty if nobody does.
func (g *Gate) Login() (issuer, clientID string) {
	if p := g.callers.Load().people; p != nil {
		return p.Login()
	}
	return "", ""
}

// People returns who knows persons now; nil is nobody.
func (g *Gate) People() People { return g.callers.Load().people }

// Agent returns the name of the agent that sends a request; empty if no agent sends it.
func (g *Gate) Agent(r *http.Request) string {
	if r.TLS == nil {
		return ""
	}
	return g.AgentOf(r.TLS.VerifiedChains)
}

// AgentOf returns the name of the agent whose certificate TLS has verified; empty without one.
func (g *Gate) AgentOf(chains [][]*x509.Certificate) string {
	return g.callers.Load().authorities.Agent(chains)
}

// Authorities returns the authorities of clients as they are now: for TLS, which asks at each handshake.
func (g *Gate) Authorities() []*x509.Certificate { return g.callers.Load().authorities.Now }

// Throttled counts a request of a caller, or with a wrong token if who is empty. It reports
// whether there were too many of that caller or from that address.
func (g *Gate) Throttled(r *http.Request, who string) bool {
	by := "source"
	if who != "" {
		by = "caller"
	}
	_, after := g.limits.admit(r, who, who != "")
	if after > 0 {
		g.metrics.limited.WithLabelValues(by).Inc()
	}
	return after > 0
}

// Recorded does what an entry says, noted before it is begun and when it has ended, with what do
// returns. What cannot be noted is not begun: the error, unavailable, is of nothing else.
func (g *Gate) Recorded(ctx context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error {
	return g.ledger.recorded(ctx, e, do)
}

// Denied notes what somebody was refused for who they are. So many entries are written and no
// more: the rest is counted.
func (g *Gate) Denied(r *http.Request, e protocol.AuditEntry, err error) { g.ledger.denied(r, e, err) }
