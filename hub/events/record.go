package events

import (
	"context"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// recordTimeout bounds the wait for the audit log.
const recordTimeout = 5 * time.Second

// Recorder keeps the audit log. An entry is durable when Append returns. It is used
// concurrently.
type Recorder interface {
	Append(ctx context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error)
}

// Record notes what the hub has done by itself, or what is stored of what somebody did.
func (l *Log) Record(ctx context.Context, e protocol.AuditEntry) error {
	if l.cfg.Audit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	e.From, e.Outcome = HubName, protocol.AuditAccepted
	_, err := l.cfg.Audit.Append(ctx, e)
	return err
}

// recordHold notes what was done to a hold, as it is stored. It may do so twice, if the
// hub dies in between, and never not at all.
func (l *Log) recordHold(ctx context.Context, h *resource.Hold, code resource.EventCode, message string) error {
	e := protocol.AuditEntry{Caller: HubName, Target: Target(resource.KindHold, h.Metadata.Name), Detail: "server " + h.Spec.Server + ": " + message}
	switch code { //nolint:exhaustive // those of auditCodes
	case resource.EventHoldAccepted:
		e.Op, e.Caller, e.Reason = "hold", h.Spec.Owner, h.Spec.Reason
	case resource.EventHoldAdopted:
		e.Op = "adopt"
	case resource.EventHoldConfirmed:
		e.Op, e.Caller, e.Reason = "confirm", h.Status.ConfirmedDown.By, h.Status.ConfirmedDown.Reason
	case resource.EventReleaseAccepted:
		e.Op, e.Reason = "release", h.Status.ReleaseReason
		if h.Status.ReleasedBy != ByExpiry {
			e.Caller = h.Status.ReleasedBy
		}
	}
	return l.Record(ctx, e)
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
//	AgentKept          | keep     | none
//	BMCAccepted        | accept   | BMC, the event's
//	IdentityChanged    | accept   | Server, the event's
//	FirmwareWork       | firmware | Server, the event's
//	ClaimBound         | bind     | Server, the event's
//	ImageResolved      | grant    | Server, the event's
//	Discovery          | discover | Server, the event's
//	Maintenance        | maintain | Maintenance, the event's
//	Adopted            | adopt    | Server, the event's
//	ServerGroup        | revise   | ServerGroup, the event's
//	another            | it is not noted
func (l *Log) recordOwn(ctx context.Context, ev api.EventRecord) {
	e, ok := ownEntry(ev)
	if !ok {
		return
	}
	if err := l.Record(ctx, e); err != nil {
		l.cfg.Logger.Error("audit entry not written", "op", e.Op, "target", e.Target, "err", err)
	}
}

func ownEntry(ev api.EventRecord) (protocol.AuditEntry, bool) {
	e := protocol.AuditEntry{Caller: HubName, Detail: ev.Message}
	about := ""
	if ev.Target != nil {
		about = ev.Target.String()
	}
	if ev.Server != "" {
		e.Target = Target(resource.KindServer, ev.Server)
	}
	switch ev.Code { //nolint:exhaustive // the rest is not for the audit log
	case resource.EventJoined:
		e.Op = "join"
	case resource.EventRenewed:
		e.Op = "renew"
	case resource.EventRevoked:
		e.Op = "revoke"
	case resource.EventSuperseded:
		e.Op = "replace"
	case resource.EventCertified:
		e.Op = "certify"
	case resource.EventAgentCopied:
		e.Op = "copied"
	case resource.EventAgentKept:
		e.Op = "keep"
	case resource.EventAcceptedBMC:
		e.Op, e.Target = "accept", about
	case resource.EventIdentity:
		e.Op = "accept"
	case resource.EventFirmwareWork:
		e.Op = "firmware"
	case resource.EventBound:
		e.Op = "bind"
	case resource.EventResolved:
		e.Op = "grant"
	case resource.EventDiscovery:
		e.Op = "discover"
	case resource.EventMaintenance:
		e.Op, e.Target = "maintain", about
		e.Detail = "server " + ev.Server + ": " + ev.Message
	case resource.EventAdopted:
		e.Op = "adopt"
	case resource.EventGroup:
		e.Op, e.Target = "revise", about
	default:
		return protocol.AuditEntry{}, false
	}
	return e, true
}

// Target names an object as the audit log does.
func Target(kind resource.Kind, name string) string { return string(kind) + "/" + name }
