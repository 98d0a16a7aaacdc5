package events

import (
	"context"
	"errors"
	"strings"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ReleaseKind is who ended a hold.
type ReleaseKind string

// The ways in which a hold ends.
const (
	ReleasedByOwner  ReleaseKind = "owner"
	ReleasedByForce  ReleaseKind = "break-glass"
	ReleasedByExpiry ReleaseKind = "expiry"
	ReleasedByClaim  ReleaseKind = "claim" // went with the claim of its server
)

// ReleaseKinds are all of them.
func ReleaseKinds() []ReleaseKind {
	return []ReleaseKind{ReleasedByOwner, ReleasedByForce, ReleasedByExpiry, ReleasedByClaim}
}

// ByExpiry is who releases a hold whose time to live is over.
const ByExpiry = "expiry"

// LocalOwner begins the names of people at an agent's socket.
const LocalOwner = "local:"

// AnnotationAdopted is the annotation of a hold that was taken over from an agent.
const AnnotationAdopted = "rackboot/adopted-from"

// AnnotationReturned is the annotation of a hold that had left the store after its release, and is
// there again because an agent still enforces it.
const AnnotationReturned = "rackboot/returned-from"

func kindOfRelease(h *resource.Hold) ReleaseKind {
	switch {
	case h.Status.ReleasedBy == ByExpiry:
		return ReleasedByExpiry
	case h.Metadata.Annotations[store.AnnotationReleasedWith] != "":
		return ReleasedByClaim
	case h.Status.ReleasedBy == h.Spec.Owner:
		return ReleasedByOwner
	}
	return ReleasedByForce
}

// AuditHold files what was done to a hold, once each, from what is stored of it, and
// before that notes it in the audit log: an API call that died after its write is in the
// record all the same. A hold is audited a last time before it leaves the store.
func (l *Log) AuditHold(ctx context.Context, h *resource.Hold) error {
	if h.Metadata.Annotations[AnnotationReturned] != "" {
		return nil // it was audited before it left the store
	}
	l.cfg.Store.Haste.GiveWay(ctx)
	ctx = store.Prompt(ctx) // who waits for its turn may hurry
	if err := l.auditing.Acquire(ctx, 1); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, "audit a hold", "%w", err)
	}
	defer l.auditing.Release(1)
	id := h.Metadata.Name
	var errs []error
	file := func(code resource.EventCode, at *time.Time, parts ...string) bool {
		if at == nil || l.Audited(code, id) {
			return false
		}
		ev := resource.Event{At: at.UTC(), Server: h.Spec.Server, Code: code, Message: id + " " + strings.Join(parts, "")}
		if err := l.recordHold(ctx, h, code, strings.Join(parts, "")); err != nil {
			errs = append(errs, err)
			return false
		}
		l.cfg.Crash.At("hub.hold.recorded")
		if err := l.Add(ctx, Item{api.EventRecord{Event: ev, Target: new(resource.TargetOf(h)), Agent: HubName}, string(code) + "-" + id}); err != nil {
			errs = append(errs, err)
			return false
		}
		l.cfg.Crash.At("hub.hold.filed")
		return true
	}
	what := "key " + h.Spec.Key + ", " + string(h.Spec.Mode)
	if from := h.Metadata.Annotations[AnnotationAdopted]; from != "" {
		file(resource.EventHoldAdopted, h.Metadata.CreatedAt, what, " of ", h.Spec.Owner, " from agent ", from)
	} else {
		file(resource.EventHoldAccepted, h.Metadata.CreatedAt, what, " by ", h.Spec.Owner, Because(h.Spec.Reason))
	}
	if d := h.Status.ConfirmedDown; d != nil {
		file(resource.EventHoldConfirmed, &d.At, what, " by ", d.By, Because(d.Reason))
	}
	kind := kindOfRelease(h)
	if with := h.Metadata.Annotations[store.AnnotationReleasedWith]; with != "" {
		what += ", with " + with
	}
	if file(resource.EventReleaseAccepted, h.Status.ReleasedAt, what, " of ", h.Spec.Owner, " by ", h.Status.ReleasedBy, " (", string(kind), ")", Because(h.Status.ReleaseReason)) {
		l.metrics.releases.WithLabelValues(string(kind)).Inc()
	}
	return errors.Join(errs...)
}

// Because is a reason after what was done; empty without one.
func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
