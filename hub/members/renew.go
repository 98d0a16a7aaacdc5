package members

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// presented is the certificate with which somebody came to the API, against the name in
// what it asks.
type presented string

const (
	shownOwn   presented = "own"
	shownOther presented = "other" // of another agent, or of the hub
	shownNone  presented = "none"
)

// life is how the agent's last certificate stands by the hub's clock.
type life string

const (
	lifeEarly  life = "early" // it has not begun: it was made while the hub's clock was ahead
	lifeValid  life = "valid"
	lifeEnded  life = "ended"  // and within the grace
	lifeLapsed life = "lapsed" // the grace too
)

func (k certificate) life(now time.Time) life {
	switch {
	case now.Add(decide.ClockSlack).Before(k.NotBefore):
		return lifeEarly
	case now.Before(k.NotAfter):
		return lifeValid
	case now.Before(k.NotAfter.Add(decide.CertificateGrace)):
		return lifeEnded
	}
	return lifeLapsed
}

// mayRenew decides about a Renewal whose signature is the agent's. The first row that
// fits decides.
//
//	over | active | shown | life   | verdict
//	*    | *      | other | *      | deny
//	yes  | *      | *     | *      | dismiss
//	no   | no     | *     | *      | deny
//	no   | yes    | own   | *      | grant
//	no   | yes    | none  | early  | grant
//	no   | yes    | none  | valid  | deny
//	no   | yes    | none  | ended  | grant
//	no   | yes    | none  | lapsed | deny
//
// The key alone does while there is no certificate to show: before that, whoever has
// the key has the certificate too, or should not be asking. A certificate that has not
// begun cannot be shown either.
func mayRenew(over, active bool, s presented, l life) string {
	switch {
	case s == shownOther:
		return "deny"
	case over:
		return "dismiss"
	case !active:
		return "deny"
	case s == shownOwn || l == lifeEnded || l == lifeEarly:
		return "grant"
	}
	return "deny"
}

// renewalPause is the part of a certificate's life in which an agent gets no other
// one: 13 minutes of 90 days.
const renewalPause = 10_000

// Renew answers a Renewal. name is the common name of the certificate that TLS has
// verified, empty without one. All that is wrong about who asks is one error, so that
// nobody learns which agents there are. Of an agent whose term is over the answer is
// the signed word of that.
func (c *Room) Renew(ctx context.Context, q api.RenewRequest, name string) (api.RenewAnswer, error) {
	const op = "renew"
	denied := protocol.Errorf(protocol.CodeDenied, op, "the agent, its key and its certificate do not belong together, or cannot be renewed any more").
		WithHint("look at the agent's conditions: rackctl get agents; rackctl rack replace-agent RACK lets it join anew")
	answer, result, err := c.renew(ctx, q, name, denied)
	c.renewals.WithLabelValues(result).Inc()
	return answer, err
}

// What became of Renewals, for the metric.
const (
	renewIssued   = "issued"
	renewStanding = "standing"
	renewEnded    = "ended"
	renewDenied   = "denied"
	renewFailed   = "failed"
)

func (c *Room) renew(ctx context.Context, q api.RenewRequest, name string, denied error) (api.RenewAnswer, string, error) {
	a, err := store.Get[*resource.Agent](c.cfg.Objects, q.Agent)
	if err != nil {
		return api.RenewAnswer{}, renewDenied, denied
	}
	var m message.Renewal
	if err := wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactRenewal, q.Renewal, &m); err != nil || m.Agent != q.Agent {
		c.cfg.Logger.Warn("a renewal is not signed by its agent", "agent", q.Agent, "certificate", name)
		return api.RenewAnswer{}, renewDenied, denied
	}
	s := shownOwn
	if name == "" {
		s = shownNone
	} else if name != q.Agent {
		s = shownOther
	}
	e, over := c.cfg.Terms.EndingOf(q.Agent)
	have := c.certificateOf(a)
	switch mayRenew(over, c.cfg.Terms.Belongs(a), s, have.life(c.cfg.Clock())) {
	case "dismiss":
		return api.RenewAnswer{Ended: c.cfg.Terms.LastWord(q.Agent, e)}, renewEnded, nil
	case "deny":
		c.cfg.Logger.Warn("a renewal is denied", "agent", q.Agent, "certificate", name, "not_after", have.NotAfter)
		return api.RenewAnswer{}, renewDenied, denied
	}
	out := api.RenewAnswer{Standing: c.cfg.Standing}
	if len(m.CSR) == 0 {
		err := c.certified(ctx, q.Agent, func(k *certificate) {
			if k.NotAfter.IsZero() {
				*k = have
			}
			k.Trust = m.Trust
		})
		return out, renewStanding, err
	}
	if out.Certificate, err = c.certify(ctx, a, m, have); err != nil {
		return api.RenewAnswer{}, renewFailed, err
	}
	return out, renewIssued, nil
}

// certify makes the agent's next certificate. The record of it is on disk before it is
// given away.
func (c *Room) certify(ctx context.Context, a *resource.Agent, m message.Renewal, have certificate) ([]byte, error) {
	const op = "renew"
	agent := a.Metadata.Name
	now := c.cfg.Clock()
	if next := have.NotBefore.Add(c.cfg.CertificateLife / renewalPause); now.Before(next) && have.life(now) != lifeEarly {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "agent %s got a certificate a moment ago", agent).
			WithHint("it is tried again by itself; if it stays, two agents may have one key")
	}
	if len(m.SealKey) != 0 && len(m.SealKey) != 32 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "sealKey is not an X25519 public key")
	}
	cert, err := c.cfg.Issuer.IssueAgent(m.CSR, agent, c.cfg.CertificateLife)
	if err != nil {
		return nil, err
	}
	if len(m.SealKey) > 0 && !bytes.Equal(m.SealKey, a.Spec.SealKey) {
		a.Spec.SealKey = bytes.Clone(m.SealKey)
		if err := c.cfg.Objects.Put(ctx, a); err != nil {
			return nil, err
		}
	}
	next := c.issued(cert)
	next.Trust = m.Trust
	if err := c.certified(ctx, agent, func(k *certificate) { *k = next }); err != nil {
		return nil, err
	}
	c.cfg.Crash.At("hub.renew.recorded")
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventCertified, fmt.Sprintf("agent %s, until %s", agent, next.NotAfter.UTC().Format(time.RFC3339)))
	return cert, nil
}
