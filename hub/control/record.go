package control

import (
	"context"
	"strings"
	"time"

	"rackboot/protocol"
)

// recordTimeout bounds the wait for the audit log.
const recordTimeout = 5 * time.Second

// Recorder keeps the audit log. An entry is durable when Append returns. It is used
// concurrently.
type Recorder interface {
	Append(ctx context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error)
}

// record notes what the hub has done by itself, or what is stored of what somebody did.
func (c *Control) record(ctx context.Context, e protocol.AuditEntry) error {
	if c.cfg.Audit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	e.From, e.Outcome = hubName, protocol.AuditAccepted
	_, err := c.cfg.Audit.Append(ctx, e)
	return err
}

// recordHold notes what was done to a hold, as it is stored. It may do so twice, if the
// hub dies in between, and never not at all.
func (c *Control) recordHold(ctx context.Context, h *protocol.Hold, code protocol.EventCode, message string) error {
	e := protocol.AuditEntry{Caller: hubName, Target: target(protocol.KindHold, h.Metadata.Name), Detail: "server " + h.Spec.Server + ": " + message}
	switch code { //nolint:exhaustive // those of auditCodes
	case protocol.EventHoldAccepted:
		e.Op, e.Caller, e.Reason = "hold", h.Spec.Owner, h.Spec.Reason
	case protocol.EventHoldAdopted:
		e.Op = "adopt"
	case protocol.EventHoldConfirmed:
		e.Op, e.Caller, e.Reason = "confirm", h.Status.ConfirmedDown.By, h.Status.ConfirmedDown.Reason
	case protocol.EventReleaseAccepted:
		e.Op, e.Reason = "release", h.Status.ReleaseReason
		if h.Status.ReleasedBy != byExpiry {
			e.Caller = h.Status.ReleasedBy
		}
	}
	return c.record(ctx, e)
}

// recordOwn notes an event of the hub's own, if it is one for the audit log.
//
//	event              | op       | target
//	AgentJoined        | join     | none
//	AgentDiskChanged   | renew    | none
//	AgentRevoked       | revoke   | none
//	AgentSuperseded    | replace  | none
//	CertificateRenewed | certify  | none
//	AgentCopied        | copied   | none
//	BMCAccepted        | accept   | BMC, the first word of the message
//	IdentityChanged    | accept   | Server, the event's
//	FirmwareWork       | firmware | Server, the event's
//	ClaimBound         | bind     | Server, the event's
//	ImageResolved      | grant    | Server, the event's
//	Discovery          | discover | Server, the event's
//	Maintenance        | maintain | Maintenance, the first word of the message
//	Adopted            | adopt    | Server, the event's
//	ServerGroup        | revise   | ServerGroup, the first word of the message
//	another            | it is not noted
func (c *Control) recordOwn(ctx context.Context, ev protocol.Event) {
	e, ok := ownEntry(ev)
	if !ok {
		return
	}
	if err := c.record(ctx, e); err != nil {
		c.log.Error("audit entry not written", "op", e.Op, "target", e.Target, "err", err)
	}
}

func ownEntry(ev protocol.Event) (protocol.AuditEntry, bool) {
	e := protocol.AuditEntry{Caller: hubName, Detail: ev.Message}
	if ev.Server != "" {
		e.Target = target(protocol.KindServer, ev.Server)
	}
	switch ev.Code { //nolint:exhaustive // the rest is not for the audit log
	case protocol.EventJoined:
		e.Op = "join"
	case protocol.EventRenewed:
		e.Op = "renew"
	case protocol.EventRevoked:
		e.Op = "revoke"
	case protocol.EventSuperseded:
		e.Op = "replace"
	case protocol.EventCertified:
		e.Op = "certify"
	case protocol.EventAgentCopied:
		e.Op = "copied"
	case protocol.EventAcceptedBMC:
		name, _, _ := strings.Cut(ev.Message, " ")
		e.Op, e.Target = "accept", target(protocol.KindBMC, name)
	case protocol.EventIdentity:
		e.Op = "accept"
	case protocol.EventFirmwareWork:
		e.Op = "firmware"
	case protocol.EventBound:
		e.Op = "bind"
	case protocol.EventResolved:
		e.Op = "grant"
	case protocol.EventDiscovery:
		e.Op = "discover"
	case protocol.EventMaintenance:
		name, _, _ := strings.Cut(ev.Message, " ")
		e.Op, e.Target = "maintain", target(protocol.KindMaintenance, name)
		e.Detail = "server " + ev.Server + ": " + ev.Message
	case protocol.EventAdopted:
		e.Op = "adopt"
	case protocol.EventGroup:
		name, _, _ := strings.Cut(ev.Message, " ")
		e.Op, e.Target = "revise", target(protocol.KindServerGroup, name)
	default:
		return protocol.AuditEntry{}, false
	}
	return e, true
}

func target(kind protocol.Kind, name string) string { return string(kind) + "/" + name }
