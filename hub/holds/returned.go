package holds

import (
	"context"
	"fmt"
	"time"

	"rackboot/hub/events"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// releaseAgain stores a hold once more that was released and had left the store, as it was then, if
// an agent enforces it again. It travels as a release until the agent has acknowledged that: what an
// agent has ends by a document, never because something is missing here. It reports whether there
// was such a release.
func (r *Room) releaseAgain(ctx context.Context, a *resource.Agent, server, id string) (bool, error) {
	h, err := r.cfg.Store.Holds.Released(ctx, id)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return false, nil
	case err != nil:
		return false, err
	case h.Spec.Server != server:
		return false, nil
	}
	name := a.Metadata.Name
	h.Status.Rack = a.Spec.RackRef.Name
	if h.Metadata.Annotations == nil {
		h.Metadata.Annotations = map[string]string{}
	}
	h.Metadata.Annotations[events.AnnotationReturned] = name
	// Said first: who finds the hold stored does not say it again.
	r.cfg.Events.OwnOf(ctx, resource.TargetOf(h), server, resource.EventHoldReturned,
		fmt.Sprintf("agent %s enforces hold %s, which %s released at %s; it is released there once more", name, id, h.Status.ReleasedBy, h.Status.ReleasedAt.UTC().Format(time.RFC3339)))
	err = r.cfg.Store.Objects.Put(ctx, h)
	if protocol.CodeOf(err) == protocol.CodeConflict { // its owner has placed it here again since
		h.Spec.Key = adoptedKey(id)
		err = r.cfg.Store.Objects.Put(ctx, h)
	}
	if err != nil {
		return true, err
	}
	r.cfg.Logger.Warn("a released hold is enforced again; it is released once more", "hold", id, "server", server, "agent", name)
	r.cfg.Crash.At("hub.hold.returned")
	return true, nil
}
