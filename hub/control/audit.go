package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// releaseKind is who ended a hold.
type releaseKind string

const (
	releasedByOwner  releaseKind = "owner"
	releasedByForce  releaseKind = "break-glass"
	releasedByExpiry releaseKind = "expiry"
	releasedByClaim  releaseKind = "claim" // went with the claim of its server
)

func releaseKinds() []releaseKind {
	return []releaseKind{releasedByOwner, releasedByForce, releasedByExpiry, releasedByClaim}
}

// byExpiry is who releases a hold whose time to live is over.
const byExpiry = "expiry"

// annotationAdopted is the annotation of a hold that was taken over from an agent.
const annotationAdopted = "rackboot/adopted-from"

func kindOfRelease(h *protocol.Hold) releaseKind {
	switch {
	case h.Status.ReleasedBy == byExpiry:
		return releasedByExpiry
	case h.Metadata.Annotations[store.AnnotationReleasedWith] != "":
		return releasedByClaim
	case h.Status.ReleasedBy == h.Spec.Owner:
		return releasedByOwner
	}
	return releasedByForce
}

// audit files what was done to the holds, once each, from what is stored of them, and
// before that notes it in the audit log: an API call that died after its write is in the
// record all the same. A hold is audited
// a last time before it leaves the store.
func (c *Control) audit(ctx context.Context, holds []*protocol.Hold) error {
	var errs []error
	there := map[string]bool{}
	for _, h := range holds {
		there[h.Metadata.Name] = true
		errs = append(errs, c.auditHold(ctx, h))
	}
	c.events.forget(there)
	return errors.Join(errs...)
}

func (c *Control) auditHold(ctx context.Context, h *protocol.Hold) error {
	c.auditing.Lock()
	defer c.auditing.Unlock()
	id := h.Metadata.Name
	var errs []error
	file := func(code protocol.EventCode, at *time.Time, parts ...string) bool {
		if at == nil || c.events.audited(code, id) {
			return false
		}
		ev := protocol.Event{At: at.UTC(), Server: h.Spec.Server, Code: code, Message: id + " " + strings.Join(parts, "")}
		if err := c.recordHold(ctx, h, code, strings.Join(parts, "")); err != nil {
			errs = append(errs, err)
			return false
		}
		c.cfg.Crash.At("hub.hold.recorded")
		if err := c.events.add(ctx, api.EventRecord{Event: ev, Target: new(protocol.TargetOf(h)), Agent: hubName}, string(code)+"-"+id); err != nil {
			errs = append(errs, err)
			return false
		}
		c.cfg.Crash.At("hub.hold.filed")
		return true
	}
	what := "key " + h.Spec.Key + ", " + string(h.Spec.Mode)
	if from := h.Metadata.Annotations[annotationAdopted]; from != "" {
		file(protocol.EventHoldAdopted, h.Metadata.CreatedAt, what, " of ", h.Spec.Owner, " from agent ", from)
	} else {
		file(protocol.EventHoldAccepted, h.Metadata.CreatedAt, what, " by ", h.Spec.Owner, because(h.Spec.Reason))
	}
	if d := h.Status.ConfirmedDown; d != nil {
		file(protocol.EventHoldConfirmed, &d.At, what, " by ", d.By, because(d.Reason))
	}
	kind := kindOfRelease(h)
	if with := h.Metadata.Annotations[store.AnnotationReleasedWith]; with != "" {
		what += ", with " + with
	}
	if file(protocol.EventReleaseAccepted, h.Status.ReleasedAt, what, " of ", h.Spec.Owner, " by ", h.Status.ReleasedBy, " (", string(kind), ")", because(h.Status.ReleaseReason)) {
		c.metrics.releases.WithLabelValues(string(kind)).Inc()
	}
	return errors.Join(errs...)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
