package upgrades

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/hub/plan/rollout"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/resource"
)

// orderID names an order: it is the same for the same, whichever hub gives it.
func orderID(uid, agent, kind string, at time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %d", uid, agent, kind, at.UnixNano()))
	return "up" + hex.EncodeToString(sum[:12])
}

// orders gives what a step wants, and the active agent its own after who stands by for it.
func (c *Room) orders(ctx context.Context, p *pass, u *resource.AgentUpgrade, m aim, seats []*seat, out rollout.Result) error {
	by := make(map[string]*seat, len(seats))
	for _, s := range seats {
		by[s.rack.Metadata.Name] = s
	}
	want := map[string]rollout.Order{}
	for _, o := range out.Orders {
		want[o.Server] = o
	}
	for name, member := range out.Status.Members {
		s := by[name]
		if m.still || s == nil || member.BegunAt == nil || len(s.crew) < 2 || !m.given(s.crew[0], *member.BegunAt) {
			continue
		}
		switch member.State {
		case resource.MemberBegun:
			want[name] = rollout.Order{Server: name, Kind: rollout.OrderReboot, At: *member.BegunAt}
		case resource.MemberReturning:
			want[name] = rollout.Order{Server: name, Kind: rollout.OrderReturn, At: *member.BegunAt}
		default:
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if s := by[name]; s != nil {
			errs = append(errs, c.order(ctx, p, u, m, s, want[name]))
		}
	}
	return errors.Join(errs...)
}

// order gives the next agent of a rack its order. It is stored with the agent, and gets from there into its document.
func (c *Room) order(ctx context.Context, p *pass, u *resource.AgentUpgrade, m aim, s *seat, o rollout.Order) error {
	a := m.next(s, o.Kind, o.At)
	if a == nil {
		return nil
	}
	kind, digest := resource.AgentOrderUpgrade, m.digest
	before := a.runs
	if o.Kind == rollout.OrderReturn {
		kind = resource.AgentOrderReturn
		if last := a.order; last != nil && last.UID == m.uid {
			before = last.Before
		}
		if digest = c.packageOf(before); digest == "" {
			return nil // it is waited for until its time is over, and then needs a look
		}
	}
	if !c.whole(digest) {
		return nil // the condition says so, and the order is given again
	}
	own := store.Copy(c.cfg.Objects, a.agent)
	own.Status.Order = &resource.AgentOrder{
		ID: orderID(m.uid, a.agent.Metadata.Name, kind, o.At), Upgrade: u.Metadata.Name, UID: m.uid, Kind: kind, Package: digest,
		At: o.At, NotAfter: c.notAfter(p, u), Before: before,
	}
	err := c.cfg.Objects.Put(ctx, own)
	if protocol.CodeOf(err) == protocol.CodeConflict {
		return nil // it was changed meanwhile; the next turn gives it again
	}
	if err != nil {
		return err
	}
	c.cfg.Crash.At("hub.upgrade.ordered")
	c.counts.ordered.WithLabelValues(kind).Inc()
	c.cfg.Logger.Info("agent ordered to run another release", "agent", a.agent.Metadata.Name, "rack", s.rack.Metadata.Name, "upgrade", u.Metadata.Name, "order", own.Status.Order.ID, "kind", kind, "package", digest)
	return nil
}

// notAfter is until when an agent may begin: as long as a member has time, and not beyond the window.
func (c *Room) notAfter(p *pass, u *resource.AgentUpgrade) time.Time {
	until := p.now.Add(u.Spec.Rollout.Deadline.D())
	open, next, err := rollout.InWindow(local(p.now, u.Spec.Rollout), u.Spec.Rollout)
	if err == nil && open && !next.IsZero() && next.Before(until) {
		until = next
	}
	return until.UTC()
}

// whole reports whether all of a package is here.
func (c *Room) whole(digest string) bool {
	m, err := c.manifest(digest)
	return err == nil && c.cfg.Files != nil && !slices.ContainsFunc(m.Binaries, func(b agentpackage.Binary) bool { return !c.cfg.Files.Has(b.SHA256) })
}

// packageOf is the digest of a package that has a program, and is whole; empty if none has.
func (c *Room) packageOf(program string) string {
	if program == "" {
		return ""
	}
	for _, stored := range c.cfg.Packages.List() {
		m, err := agentpackage.Read(stored.Manifest)
		if err == nil && slices.ContainsFunc(m.Binaries, func(b agentpackage.Binary) bool { return b.SHA256 == program }) && c.whole(stored.Digest) {
			return stored.Digest
		}
	}
	return ""
}

// waysBack says why agents that were upgraded could not be returned; empty if each could.
func (c *Room) waysBack(seats []*seat, m aim) (why string) {
	known := map[string]bool{}
	for _, s := range seats {
		for _, a := range s.crew {
			if a.order == nil || a.order.UID != m.uid || !m.runs(a) {
				continue
			}
			if _, looked := known[a.order.Before]; !looked {
				known[a.order.Before] = c.packageOf(a.order.Before) != ""
			}
			if !known[a.order.Before] {
				return fmt.Sprintf("no package here has what agent %s ran before", a.agent.Metadata.Name)
			}
		}
	}
	return ""
}
