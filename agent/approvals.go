package agent

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/agent/server"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Destructive is what the agent wants for destructive actions. Without keys it does
// what the hub's everyday key signs.
type Destructive struct {
	// Keys sign approvals: Ed25519 public keys.
	Keys []ed25519.PublicKey
	// BulkStop is how many servers may be forced off within Window without an approval;
	// 0 does not bound it. It is from the agent's own file: no hub can raise it.
	BulkStop int
	Window   time.Duration
}

// The bound of an agent whose file does not give one.
const (
	DefaultBulkStop       = 8
	DefaultBulkStopWindow = 10 * time.Minute
)

// bulk is the bound as loops of servers know it.
func (d Destructive) bulk() server.BulkStop {
	return server.BulkStop{Guarded: len(d.Keys) > 0, Most: d.BulkStop, Window: d.Window}
}

func (d Destructive) stance() *resource.ApprovalStance {
	s := &resource.ApprovalStance{BulkStop: d.BulkStop, Window: d.Window}
	for _, k := range d.Keys {
		s.Keys = append(s.Keys, k)
	}
	return s
}

// refusedSignature is the reason of approvals that are not judged; the others are those
// of decide.ApprovalAnswer.
const refusedSignature = "signature"

var approvalReasons = []string{
	refusedSignature, string(decide.ApprovalNoRoom), string(decide.ApprovalMalformed), string(decide.ApprovalForeign),
	string(decide.ApprovalTooEarly), string(decide.ApprovalTooLate),
}

// takeApprovals keeps what a hold document carries of approvals, and returns the
// servers that may be forced off by them now. They count by their own signature,
// whatever becomes of the document.
func (a *Agent) takeApprovals(d message.HoldDoc, leaf string) ([]string, error) {
	if len(a.cfg.Destructive.Keys) == 0 {
		return nil, nil
	}
	destructive := wire.NewVerifier(a.cfg.Destructive.Keys...)
	refused := map[string]string{} // reason by what is known of the approval
	var all []resource.Approval
	for i, sealed := range d.Approvals {
		var m resource.Approval
		switch err := wire.Open(destructive, wire.FactApproval, sealed, &m); {
		case i >= resource.MaxApprovals:
			refused["others"] = string(decide.ApprovalNoRoom)
		case err != nil:
			refused[fmt.Sprintf("number %d", i+1)] = refusedSignature
		default:
			all = append(all, m)
		}
	}
	var touched []string
	if len(all) > 0 {
		servers, answers, err := a.store.Approvals.Take(a.cfg.Clock(), all, a.approvalIsOurs)
		if err != nil {
			return nil, err
		}
		touched = servers
		for id, answer := range answers {
			refused[fmt.Sprintf("%.64q", id)] = string(answer)
		}
	}
	var why []string
	for what, reason := range refused {
		why = append(why, what+" ("+reason+")")
		a.met.approvals.WithLabelValues(reason).Inc()
	}
	slices.Sort(why)
	if len(why) > 0 {
		a.log.Warn("approvals refused", "approvals", why)
	}
	a.link.Trouble(resource.CondApprovalRefused, leaf, strings.Join(why, ", "))
	return touched, nil
}

// approvalIsOurs says whether an approval is for this agent of this rack.
func (a *Agent) approvalIsOurs(m resource.Approval) bool {
	return m.Rack == a.cfg.Rack && bytes.Equal(m.AgentKey, a.cfg.Signer.Public())
}
