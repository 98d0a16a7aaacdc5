package groups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rackboot/hub/conditions"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// groupPass is what one look at all groups shares.
type groupPass struct {
	f         plan.Fleet
	now       time.Time
	managed   *resource.ManagedBootImages // nil: nobody has said a mode
	groups    []*resource.ServerGroup
	entries   []*resource.BootImage
	history   map[string][]*resource.GroupRevision // by UID of the group, in order of number
	conflicts map[string][]string
	versions  map[string]string // by digest of an image
	asked     map[string]bool   // askers of images
	due       time.Time         // of the next look; zero is none
	installs  map[string]installs
}

// at plans a look.
func (p *groupPass) at(t time.Time) {
	if !t.IsZero() && (p.due.IsZero() || t.Before(p.due)) {
		p.due = t
	}
}

// Turn looks at every group: what its servers have booted, and what it is to boot.
// What cannot be done for one stops no other.
func (c *Room) Turn(ctx context.Context, f plan.Fleet) error {
	if !c.groups.importing.TryLock() {
		return nil // an import asks for a pass at its end
	}
	defer c.groups.importing.Unlock()
	p := c.groupPass(f)
	conds, views := map[string][]resource.ConditionState{}, map[string]groupView{}
	var used []bootimages.InUse
	states := map[string]*bootimages.State{}
	var errs []error
	for _, g := range p.groups {
		s, view, in, err := c.group(ctx, p, g)
		errs = append(errs, err)
		states[g.Metadata.Name], views[g.Metadata.Name] = &s, view
		used = append(used, in...)
	}
	skew := resource.SkewSpec{Mode: resource.SkewNone}
	if p.managed != nil {
		skew = p.managed.Spec.Skew
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
	for _, server := range c.groups.keep(views, skew.Mode, p.installs) {
		c.cfg.Wake.Server(server)
	}
	c.cfg.Images.Forget(func(asker string) bool { return strings.HasPrefix(asker, Askers) && !p.asked[asker] })
	errs = append(errs, c.sweepRevisions(ctx, p))
	due := int64(0)
	if !p.due.IsZero() {
		due = p.due.UnixNano()
	}
	c.groups.due.Store(due)
	return errors.Join(errs...)
}

func (c *Room) groupPass(f plan.Fleet) *groupPass {
	s := c.cfg.Store
	p := &groupPass{
		f: f, now: c.cfg.Clock().UTC(), groups: store.List[*resource.ServerGroup](s), entries: store.List[*resource.BootImage](s),
		history: map[string][]*resource.GroupRevision{}, versions: map[string]string{}, asked: map[string]bool{}, installs: map[string]installs{},
	}
	if m, err := store.Peek[*resource.ManagedBootImages](s, resource.ManagedBootImagesName); err == nil {
		p.managed = m
	}
	for _, r := range store.List[*resource.GroupRevision](s) {
		p.history[r.Spec.GroupUID] = append(p.history[r.Spec.GroupUID], r)
		for _, img := range r.Spec.Images {
			p.versions[img.Digest] = cmp.Or(p.versions[img.Digest], r.Spec.Version)
		}
	}
	for _, list := range p.history {
		sortRevisions(list)
	}
	p.conflicts = bootimages.Conflicts(p.groups, f.Selected)
	there, servers := map[string]bool{}, map[string]bool{}
	for _, g := range p.groups {
		there[g.Metadata.UID] = true
	}
	for _, srv := range f.Servers {
		servers[srv.Metadata.Name] = true
	}
	c.groups.forget(there, servers)
	return p
}

func sortRevisions(list []*resource.GroupRevision) {
	slices.SortFunc(list, func(a, b *resource.GroupRevision) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
}

// revision is a group's revision of a number; nil if there is none.
func (p *groupPass) revision(g *resource.ServerGroup, number int) *resource.GroupRevision {
	for _, r := range p.history[g.Metadata.UID] {
		if r.Spec.Number == number {
			return r
		}
	}
	return nil
}

// Group moves one group along.
func (c *Room) group(ctx context.Context, p *groupPass, g *resource.ServerGroup) (bootimages.State, groupView, []bootimages.InUse, error) {
	var errs []error
	g, err := c.finishRevision(ctx, p, g)
	errs = append(errs, err)
	members := p.f.Selected(g.Spec.Selector.MatchLabels)
	seen := c.booted(p, g, members)
	g, err = c.proved(ctx, p, g, seen)
	errs = append(errs, err)

	archs, wrong := bootimages.Architectures(g, members)
	s := bootimages.State{Enrolment: bootimages.Enrol(bootimages.EnrolIn{Feature: c.cfg.ManagedBootImages, Managed: p.managed, Group: g, Architectures: archs})}
	own, entry := bootimages.Own(g), (*resource.BootImage)(nil)
	current := p.revision(g, g.Status.Revision)
	wanted := own
	if s.Enrolment.Managed {
		var what bootimages.Chosen
		what, entry, s.Waits = bootimages.Choose(p.entries, g, current)
		switch what {
		case bootimages.ChooseTake, bootimages.ChooseCurrent:
			wanted, s.Waits = true, ""
		case bootimages.ChoosePinned, bootimages.ChooseNothing:
		}
	}
	if own && len(archs) == 0 {
		wanted, s.Waits = false, "no server has its labels, and so no architecture is known; declare spec.architectures"
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
	g, err = c.roll(ctx, p, g)
	if err != nil && protocol.CodeOf(err) != protocol.CodeConflict { // another writer was first, and the next pass goes on
		s.Checked.Failed = append(s.Checked.Failed, resource.ConditionState{Code: resource.CondImagesDegraded, Message: "the roll-out: " + conditions.Text(err)})
	}
	errs = append(errs, err)
	p.at(c.groups.tried(g.Metadata.UID, len(s.Checked.Failed) > 0, p.now))
	current = p.revision(g, g.Status.Revision)
	s.HotLoop, s.Rollout, s.Failing = g.Status.HotLoop, g.Status.Rollout, c.failing(p, g)
	if current != nil && g.Status.Verified != g.Status.Revision {
		s.Stamp = c.Unstamped(current)
	}
	return s, groupView{enrolment: s.Enrolment, counts: counts(seen, current), rollout: g.Status.Rollout}, inUse(p, g, seen, current), errors.Join(errs...)
}

// wanted checks everything that a group's next revision needs, and makes it; nil where
// something is missing, or nothing differs.
func (c *Room) wanted(ctx context.Context, p *groupPass, g *resource.ServerGroup, entry *resource.BootImage, current *resource.GroupRevision, archs, wrong []string) (bootimages.Checked, *resource.GroupRevisionSpec) {
	in := bootimages.CheckIn{Architectures: archs, Images: map[string]bootimages.ArchSeen{}, Conflicts: map[string][]string{}, Wrong: wrong}
	for server, names := range p.conflicts {
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
		Group: g, Current: current, History: p.history[g.Metadata.UID], Entry: entry, Images: images, Stub: stub, Stamp: c.stampOf(entry), By: events.HubName, At: p.now,
	})
}

// sweepRevisions removes what is beyond the limits of the groups' histories, with all that
// belongs to groups that are gone, and the user data that no revision names any more.
func (c *Room) sweepRevisions(ctx context.Context, p *groupPass) error {
	used := map[string]map[int]bool{}
	for _, b := range p.f.Configs {
		if b.Spec.Group != "" {
			if used[b.Spec.Group] == nil {
				used[b.Spec.Group] = map[int]bool{}
			}
			used[b.Spec.Group][b.Spec.Revision] = true
		}
	}
	groups := map[string]*resource.ServerGroup{}
	for _, g := range p.groups {
		groups[g.Metadata.UID] = g
	}
	var errs []error
	for _, uid := range slices.Sorted(maps.Keys(p.history)) {
		keep := map[int]bool{}
		if g, err := store.Peek[*resource.ServerGroup](c.cfg.Store, p.history[uid][0].Spec.Group); err == nil && groups[uid] != nil && g.Metadata.UID == uid {
			keep = bootimages.Keep(g, p.history[uid], used[g.Metadata.Name])
		}
		for _, r := range p.history[uid] {
			if keep[r.Spec.Number] {
				continue
			}
			if err := c.cfg.Store.Remove(ctx, r); err != nil {
				errs = append(errs, err)
				break
			}
			c.cfg.Crash.At("hub.group.pruned")
		}
	}
	return errors.Join(append(errs, c.cfg.Store.SweepStubs(ctx))...)
}
