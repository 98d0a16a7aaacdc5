package groups

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// driven says whether the catalogue is why a revision is made: what the hub does by
// itself, and may find undone.
func driven(cause resource.RevisionCause) bool {
	return cause == resource.CauseCatalogue || cause == resource.CauseAdopt
}

// revise gives a group its next revision, unless somebody undoes the same each time.
func (c *Room) revise(ctx context.Context, p *groupPass, g *resource.ServerGroup, spec *resource.GroupRevisionSpec, s *bootimages.State) (*resource.ServerGroup, error) {
	if driven(spec.Cause) {
		if what, loop := bootimages.HotLoop(g.Status.HotLoop, bootimages.Value(spec.Images), p.now); what == bootimages.LoopHolds {
			s.HotLoop = &loop
			return c.holdGroup(ctx, p, g, loop)
		}
	}
	r, err := c.createRevision(ctx, spec, false)
	if err != nil {
		return g, err
	}
	p.history[g.Metadata.UID] = append(p.history[g.Metadata.UID], r)
	for _, img := range r.Spec.Images {
		p.versions[img.Digest] = r.Spec.Version
	}
	return c.finishRevision(ctx, p, g)
}

// createRevision writes a line of a group's history, after the user data that it names was
// kept. verified is that it returns to one that was. It is the group's only with
// [Control.finishRevision], which the next pass does if a crash comes between both.
func (c *Room) createRevision(ctx context.Context, spec *resource.GroupRevisionSpec, verified bool) (*resource.GroupRevision, error) {
	if spec.Stub != nil {
		if err := c.cfg.Store.KeepStub(ctx, *spec.Stub); err != nil && spec.CopyOf == 0 {
			return nil, err // what an older revision names was kept with it
		}
	}
	r := &resource.GroupRevision{Spec: *spec, Status: resource.GroupRevisionStatus{Verified: verified}}
	r.Metadata.Name = resource.GroupRevisionName(spec.Group, spec.Number)
	if err := c.cfg.Store.Put(ctx, r); err != nil {
		return nil, err
	}
	c.cfg.Crash.At("hub.group.revised")
	return r, nil
}

// finishRevision makes the newest revision that is stored a group's current one, with all
// that follows from it. It answers with the group as it is then.
func (c *Room) finishRevision(ctx context.Context, p *groupPass, g *resource.ServerGroup) (*resource.ServerGroup, error) {
	history := p.history[g.Metadata.UID]
	if len(history) == 0 || history[len(history)-1].Spec.Number <= g.Status.Revision {
		return g, nil
	}
	r := history[len(history)-1]
	own, err := store.Get[*resource.ServerGroup](c.cfg.Store, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	own.Status = bootimages.Applied(own.Status, r, p.revision(g, r.Spec.Parent))
	if r.Status.Verified {
		own.Status.Verified = r.Spec.Number
	}
	if driven(r.Spec.Cause) {
		_, loop := bootimages.HotLoop(own.Status.HotLoop, bootimages.Value(r.Spec.Images), r.Spec.At)
		own.Status.HotLoop = &loop
	}
	if err := c.cfg.Store.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.current")
	c.groupEvent(ctx, own, "has revision %d by %s: %s%s", r.Spec.Number, r.Spec.By, r.Spec.Cause, revisionWords(r))
	c.metrics.revisions.WithLabelValues(string(r.Spec.Cause)).Inc()
	return own, nil
}

func revisionWords(r *resource.GroupRevision) string {
	out := ""
	if r.Spec.Version != "" {
		out = ", version " + r.Spec.Version
	}
	return out + ", " + bootimages.Value(r.Spec.Images) + events.Because(r.Spec.Reason)
}

func (c *Room) groupEvent(ctx context.Context, g *resource.ServerGroup, format string, args ...any) {
	text := g.Metadata.Name + " " + fmt.Sprintf(format, args...)
	c.cfg.Logger.Info("server group", "group", g.Metadata.Name, "detail", text)
	c.cfg.Events.OwnOf(ctx, resource.TargetOf(g), "", resource.EventGroup, text)
}

// holdGroup stops applying to one group until somebody acknowledges it.
func (c *Room) holdGroup(ctx context.Context, p *groupPass, g *resource.ServerGroup, loop resource.HotLoop) (*resource.ServerGroup, error) {
	if was := g.Status.HotLoop; was != nil && was.Held {
		return g, nil
	}
	own, err := store.Get[*resource.ServerGroup](c.cfg.Store, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	loop.Writer = c.otherWriter(p, g)
	own.Status.HotLoop = &loop
	if err := c.cfg.Store.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.held")
	c.groupEvent(ctx, own, "is held: its image was applied %d times, and %s put another in its place each time", loop.Count, orSomebody(loop.Writer))
	return own, nil
}

func orSomebody(who string) string {
	if who == "" {
		return "somebody"
	}
	return who
}

// Trail reads the audit log. It is used concurrently.
type Trail interface {
	// Read returns up to limit entries from a number on, and the number to go on with.
	Read(from uint64, limit int) ([]protocol.AuditEntry, uint64, error)
	// Since is the number of an entry before which all are older.
	Since(at time.Time) uint64
}

// trailScan bounds the entries that are read for the name of a writer.
const trailScan = 10_000

// otherWriter is who changed a group last, by the audit log; empty if it does not say.
func (c *Room) otherWriter(p *groupPass, g *resource.ServerGroup) (who string) {
	if c.cfg.Trail == nil {
		return ""
	}
	name := events.Target(resource.KindServerGroup, g.Metadata.Name)
	from := c.cfg.Trail.Since(p.now.Add(-bootimages.LoopWindow))
	for read := 0; read < trailScan; {
		entries, next, err := c.cfg.Trail.Read(from, 1000)
		if err != nil || len(entries) == 0 {
			return who
		}
		for _, e := range entries {
			ours := e.Target == name || strings.HasPrefix(e.Target, name+" ")
			if ours && e.Caller != events.HubName && slices.Contains([]protocol.AuditOutcome{protocol.AuditAccepted, protocol.AuditAsked}, e.Outcome) {
				who = e.Caller
			}
		}
		read, from = read+len(entries), next
	}
	return who
}
