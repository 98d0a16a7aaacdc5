package groups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/hub/conditions"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Turn looks at every group: what its servers have booted, and what it is to boot.
// What cannot be done for one stops no other.
func (c *Room) Turn(ctx context.Context, f plan.Fleet) error {
	if !c.groups.importing.TryLock() {
		return nil // an import asks for a pass at its end
	}
	defer c.groups.importing.Unlock()
	p := c.cfg.Revisions.Begin(f)
	c.cfg.Rollouts.Begin()
	c.asked = map[string]bool{}
	there := map[string]bool{}
	for _, g := range p.Groups {
		there[g.Metadata.UID] = true
	}
	c.groups.forget(there)
	conds, views := map[string][]resource.ConditionState{}, map[string]groupView{}
	var used []bootimages.InUse
	states := map[string]*bootimages.State{}
	var errs []error
	for _, g := range p.Groups {
		s, view, in, err := c.group(ctx, p, g)
		errs = append(errs, err)
		states[g.Metadata.Name], views[g.Metadata.Name] = &s, view
		used = append(used, in...)
	}
	skew := resource.SkewSpec{Mode: resource.SkewNone}
	if p.Managed != nil {
		skew = p.Managed.Spec.Skew
	}
	for name, why := range bootimages.Skew(skew, used) {
		v := views[name]
		v.skew, states[name].Skew = why, why
		views[name] = v
	}
	for name, s := range states {
		conds[name] = bootimages.Conditions(*s)
	}
	c.conds.Keep(wake.SiteUnit, conds, c.cfg.Clock())
	c.groups.keep(views, skew.Mode)
	c.cfg.Rollouts.End()
	c.cfg.Images.Forget(func(asker string) bool { return strings.HasPrefix(asker, Askers) && !c.asked[asker] })
	errs = append(errs, c.sweepRevisions(ctx, p))
	due := int64(0)
	if !p.Due.IsZero() {
		due = p.Due.UnixNano()
	}
	c.groups.due.Store(due)
	return errors.Join(errs...)
}

// Group moves one group along.
func (c *Room) group(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup) (bootimages.State, groupView, []bootimages.InUse, error) {
	var errs []error
	g, err := c.cfg.Revisions.Finish(ctx, p, g)
	errs = append(errs, err)
	members := p.Fleet.Selected(g.Spec.Selector)
	seen := c.cfg.Revisions.Booted(p, g, members)
	g, err = c.cfg.Revisions.Proved(ctx, p, g, seen)
	errs = append(errs, err)

	archs, wrong := bootimages.Architectures(g, members)
	s := bootimages.State{Enrolment: bootimages.Enrol(bootimages.EnrolIn{Feature: c.cfg.ManagedBootImages, Managed: p.Managed, Group: g, Architectures: archs})}
	own, entry := bootimages.Own(g), (*resource.BootImage)(nil)
	current := p.Revision(g, g.Status.Revision)
	wanted := own
	if s.Enrolment.Managed {
		var what bootimages.Chosen
		what, entry, s.Waits = bootimages.Choose(p.Entries, g, current)
		switch what {
		case bootimages.ChooseTake, bootimages.ChooseCurrent:
			wanted, s.Waits = true, ""
		case bootimages.ChoosePinned, bootimages.ChooseNothing:
		}
	}
	if own && len(archs) == 0 {
		wanted, s.Waits = false, "no architecture is known, of no server that has its labels; declare spec.architectures, or set spec.architecture of the Servers"
	}
	if own && g.Status.Pinned != nil {
		wanted, s.Waits = false, fmt.Sprintf("pinned to revision %d by %s", g.Status.Pinned.Revision, g.Status.Pinned.By)
	}
	if wanted {
		var next *resource.GroupRevisionSpec
		s.Checked, next = c.wanted(ctx, p, g, entry, current, archs, wrong)
		if next != nil {
			g, err = c.revise(ctx, p, g, next, &s)
			errs = append(errs, err)
		}
	}
	g, err = c.cfg.Rollouts.Roll(ctx, p, g)
	if err != nil && protocol.CodeOf(err) != protocol.CodeConflict { // another writer was first, and the next pass goes on
		s.Checked.Failed = append(s.Checked.Failed, resource.ConditionState{Code: resource.CondImagesDegraded, Message: "the roll-out: " + conditions.Text(err)})
	}
	errs = append(errs, err)
	p.At(c.groups.tried(g.Metadata.UID, len(s.Checked.Failed) > 0, p.Now))
	current = p.Revision(g, g.Status.Revision)
	s.HotLoop, s.Rollout, s.Failing = g.Status.HotLoop, g.Status.Rollout, c.failing(p, g)
	if current != nil && g.Status.Verified != g.Status.Revision {
		s.Stamp = c.cfg.Revisions.Unstamped(current)
	}
	return s, groupView{enrolment: s.Enrolment, counts: counts(seen, current), limit: c.stubLimit(entry, current), rollout: g.Status.Rollout}, inUse(p, g, seen, current), errors.Join(errs...)
}

// stubLimit is the highest specification of user data that the image reads which a group is to boot: of the entry
// that it takes, or else of its current revision's; empty where nothing says it.
func (c *Room) stubLimit(entry *resource.BootImage, current *resource.GroupRevision) string {
	if entry == nil && current != nil {
		b, err := store.Peek[*resource.BootImage](c.cfg.Objects, current.Spec.BootImage)
		if err == nil && b.Digest() == current.Spec.BootImageDigest {
			entry = b
		}
	}
	if entry == nil {
		return ""
	}
	return entry.Spec.MaxIgnition
}

// wanted checks everything that a group's next revision needs, and makes it; nil where
// something is missing, or nothing differs.
func (c *Room) wanted(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, entry *resource.BootImage, current *resource.GroupRevision, archs, wrong []string) (bootimages.Checked, *resource.GroupRevisionSpec) {
	in := bootimages.CheckIn{Architectures: archs, Images: map[string]bootimages.ArchSeen{}, Conflicts: map[string][]string{}, Wrong: wrong}
	for server, names := range p.Conflicts {
		if slices.Contains(names, g.Metadata.Name) {
			in.Conflicts[server] = names
		}
	}
	images, maxIgnition := map[string]resource.Image{}, ""
	if entry != nil {
		maxIgnition = entry.Spec.MaxIgnition
	}
	for _, arch := range archs {
		seen := c.archSeen(p, g, entry, arch)
		in.Images[arch], images[arch] = seen, seen.Image
	}
	in.Stub = c.groupStub(ctx, g, entry, maxIgnition)
	checked := bootimages.Preflight(in)
	if !checked.Fits() {
		return checked, nil
	}
	stub, err := c.writeStub(ctx, g, in.Stub, maxIgnition)
	if err != nil {
		checked.Failed = append(checked.Failed, resource.ConditionState{Code: resource.CondStubRefused, Message: conditions.Text(err)})
		return checked, nil
	}
	return checked, bootimages.Revision(bootimages.Next{
		Group: g, Current: current, History: p.History[g.Metadata.UID], Entry: entry, Images: images, Stub: stub, Stamp: c.cfg.Revisions.StampOf(entry), By: events.HubName, At: p.Now,
	})
}

// sweepManaged removes the Secrets that the hub has translated for groups that are gone, or that want no more
// translation, once no revision that is kept has one. Each is its groups' own, and goes with them.
func (c *Room) sweepManaged(ctx context.Context, p *revisions.Pass) error {
	wanted := map[string]bool{}
	for _, g := range p.Groups {
		if s := g.Spec.Stub; s != nil && s.Manage {
			wanted[s.SecretRef.Name] = true
		}
	}
	var errs []error
	for _, s := range store.Find(c.cfg.Objects, store.SecretsByType, string(resource.SecretIgnition)) {
		of := store.ManagedStubOf(s)
		if of == "" || wanted[of] || len(c.cfg.Secrets.Users(s.Metadata.Name)) > 0 {
			continue
		}
		if err := c.cfg.Objects.Remove(ctx, s); protocol.CodeOf(err) != protocol.CodeConflict { // somebody was first, or uses it now
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sweepRevisions removes what is beyond the limits of the groups' histories, with all that
// belongs to groups that are gone, and the user data that no revision names any more.
func (c *Room) sweepRevisions(ctx context.Context, p *revisions.Pass) error {
	used := map[string]map[int]bool{}
	for _, b := range p.Fleet.Configs {
		if b.Spec.Group != "" {
			if used[b.Spec.Group] == nil {
				used[b.Spec.Group] = map[int]bool{}
			}
			used[b.Spec.Group][b.Spec.Revision] = true
		}
	}
	groups := map[string]*resource.ServerGroup{}
	for _, g := range p.Groups {
		groups[g.Metadata.UID] = g
	}
	var errs []error
	for _, uid := range slices.Sorted(maps.Keys(p.History)) {
		keep := map[int]bool{}
		if g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, p.History[uid][0].Spec.Group); err == nil && groups[uid] != nil && g.Metadata.UID == uid {
			keep = bootimages.Keep(g, p.History[uid], used[g.Metadata.Name])
		}
		for _, r := range p.History[uid] {
			if keep[r.Spec.Number] {
				continue
			}
			if err := c.cfg.Objects.Remove(ctx, r); err != nil {
				errs = append(errs, err)
				break
			}
			c.cfg.Crash.At("hub.group.pruned")
		}
	}
	return errors.Join(append(errs, c.cfg.Secrets.SweepStubs(ctx), c.sweepManaged(ctx, p))...)
}
