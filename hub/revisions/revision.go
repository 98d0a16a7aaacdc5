package revisions

import (
	"context"
	"fmt"

	"rackboot/hub/events"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Create writes a line of a group's history, after the user data that it names was
// kept. verified is that it returns to one that was. It is the group's only with
// [Control.finishRevision], which the next pass does if a crash comes between both.
func (c *Room) Create(ctx context.Context, spec *resource.GroupRevisionSpec, verified bool) (*resource.GroupRevision, error) {
	if spec.Stub != nil {
		if err := c.cfg.Secrets.KeepStub(ctx, *spec.Stub); err != nil && spec.CopyOf == 0 {
			return nil, err // what an older revision names was kept with it
		}
	}
	r := &resource.GroupRevision{Spec: *spec, Status: resource.GroupRevisionStatus{Verified: verified}}
	r.Metadata.Name = resource.GroupRevisionName(spec.Group, spec.Number)
	if err := c.cfg.Objects.Put(ctx, r); err != nil {
		return nil, err
	}
	c.cfg.Crash.At("hub.group.revised")
	return r, nil
}

// Finish makes the newest revision that is stored a group's current one, with all
// that follows from it. It answers with the group as it is then.
func (c *Room) Finish(ctx context.Context, p *Pass, g *resource.ServerGroup) (*resource.ServerGroup, error) {
	history := p.History[g.Metadata.UID]
	if len(history) == 0 || history[len(history)-1].Spec.Number <= g.Status.Revision {
		return g, nil
	}
	r := history[len(history)-1]
	own, err := store.Get[*resource.ServerGroup](c.cfg.Objects, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	own.Status = bootimages.Applied(own.Status, r, p.Revision(g, r.Spec.Parent))
	if r.Status.Verified {
		own.Status.Verified = r.Spec.Number
	}
	if Driven(r.Spec.Cause) {
		_, loop := bootimages.HotLoop(own.Status.HotLoop, bootimages.Value(r.Spec.Images), r.Spec.At)
		own.Status.HotLoop = &loop
	}
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.current")
	c.Event(ctx, own, "has revision %d by %s: %s%s", r.Spec.Number, r.Spec.By, r.Spec.Cause, revisionWords(r))
	c.made.WithLabelValues(string(r.Spec.Cause)).Inc()
	return own, nil
}

// Event tells of a group, in the log and as an event; the text begins with its name.
func (c *Room) Event(ctx context.Context, g *resource.ServerGroup, format string, args ...any) {
	text := g.Metadata.Name + " " + fmt.Sprintf(format, args...)
	c.cfg.Logger.Info("server group", "group", g.Metadata.Name, "detail", text)
	c.cfg.Events.OwnOf(ctx, resource.TargetOf(g), "", resource.EventGroup, text)
}

// Driven says whether the catalogue is why a revision is made: what the hub does by
// itself, and may find undone.
func Driven(cause resource.RevisionCause) bool {
	return cause == resource.CauseCatalogue || cause == resource.CauseAdopt
}

func revisionWords(r *resource.GroupRevision) string {
	out := ""
	if r.Spec.Version != "" {
		out = ", version " + r.Spec.Version
	}
	return out + ", " + bootimages.Value(r.Spec.Images) + events.Because(r.Spec.Reason)
}

// HistoryOf are a group's revisions, in order.
func (c *Room) HistoryOf(g *resource.ServerGroup) []*resource.GroupRevision {
	out := store.Find(c.cfg.Objects, store.RevisionsByGroup, g.Metadata.UID)
	sortRevisions(out)
	return out
}
