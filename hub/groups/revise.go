package groups

import (
	"context"
	"slices"
	"strings"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// revise gives a group its next revision, unless somebody undoes the same each time.
func (c *Room) revise(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, spec *resource.GroupRevisionSpec, s *bootimages.State) (*resource.ServerGroup, error) {
	if revisions.Driven(spec.Cause) {
		if what, loop := bootimages.HotLoop(g.Status.HotLoop, bootimages.Value(spec.Images), p.Now); what == bootimages.LoopHolds {
			s.HotLoop = &loop
			return c.holdGroup(ctx, p, g, loop)
		}
	}
	r, err := c.cfg.Revisions.Create(ctx, spec, false)
	if err != nil {
		return g, err
	}
	p.History[g.Metadata.UID] = append(p.History[g.Metadata.UID], r)
	for _, img := range r.Spec.Images {
		p.Versions[img.Digest] = r.Spec.Version
	}
	return c.cfg.Revisions.Finish(ctx, p, g)
}

// holdGroup stops applying to one group until somebody acknowledges it.
func (c *Room) holdGroup(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, loop resource.HotLoop) (*resource.ServerGroup, error) {
	if was := g.Status.HotLoop; was != nil && was.Held {
		return g, nil
	}
	own, err := store.Get[*resource.ServerGroup](c.cfg.Objects, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	loop.Writer = c.otherWriter(p, g)
	own.Status.HotLoop = &loop
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.held")
	c.cfg.Revisions.Event(ctx, own, "is held: its image was applied %d times, and %s put another in its place each time", loop.Count, orSomebody(loop.Writer))
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
func (c *Room) otherWriter(p *revisions.Pass, g *resource.ServerGroup) (who string) {
	if c.cfg.Trail == nil {
		return ""
	}
	name := events.Target(resource.KindServerGroup, g.Metadata.Name)
	from := c.cfg.Trail.Since(p.Now.Add(-bootimages.LoopWindow))
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
