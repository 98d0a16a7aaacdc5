package upgrades

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"rackboot/hub/plan/rollout"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/resource"
)

// unit names the room in its book of conditions.
const unit = "upgrades"

// pass is one turn.
type pass struct {
	now   time.Time
	racks []*resource.Rack
	taken map[string]string // by which upgrade, by rack
	conds map[string][]resource.ConditionState
	views map[string]view
}

// Turn hears what agents say, and takes each roll-out a step further. What cannot be done for one stops no other.
func (c *Room) Turn(ctx context.Context) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	now := c.cfg.Clock().UTC()
	open, err := c.hear(ctx, now)
	errs := []error{err}
	p := &pass{now: now.Truncate(time.Second), taken: map[string]string{}, conds: map[string][]resource.ConditionState{}, views: map[string]view{}}
	moving := open > 0
	upgrades := slices.Clone(store.List[*resource.AgentUpgrade](c.cfg.Objects))
	if len(upgrades) > 0 {
		p.racks = store.List[*resource.Rack](c.cfg.Objects)
	}
	slices.SortFunc(upgrades, newer)
	for _, u := range upgrades {
		out, err := c.upgrade(ctx, p, u)
		if protocol.CodeOf(err) != protocol.CodeConflict { // another writer was first, and the next turn goes on
			errs = append(errs, err)
		}
		moving = moving || out == nil || !out.Phase.Over() || out.Phase == resource.RolloutRolledBack
	}
	c.conds.Keep(unit, p.conds, c.cfg.Clock())
	c.views.keep(p.views)
	c.moving.Store(moving)
	return errors.Join(errs...)
}

// newer orders upgrades, the newest first: a rack is the first's that selects it.
func newer(a, b *resource.AgentUpgrade) int {
	at := func(u *resource.AgentUpgrade) time.Time {
		if u.Metadata.CreatedAt == nil {
			return time.Time{}
		}
		return *u.Metadata.CreatedAt
	}
	return cmp.Or(at(b).Compare(at(a)), strings.Compare(b.Metadata.UID, a.Metadata.UID), strings.Compare(a.Metadata.Name, b.Metadata.Name))
}

// racksOf are the racks of an upgrade. by is the newer upgrade that has some that it selects.
func (p *pass) racksOf(u *resource.AgentUpgrade) (racks []*resource.Rack, by string) {
	for _, r := range p.racks {
		if !u.Selects(r.Metadata.Labels) {
			continue
		}
		if other, taken := p.taken[r.Metadata.Name]; taken {
			by = other
			continue
		}
		p.taken[r.Metadata.Name] = u.Metadata.Name
		racks = append(racks, r)
	}
	return racks, by
}

// upgrade takes one roll-out a step further.
func (c *Room) upgrade(ctx context.Context, p *pass, u *resource.AgentUpgrade) (*resource.RolloutStatus, error) {
	racks, by := p.racksOf(u)
	seats := c.seats(racks, p.now)
	own := store.Copy(c.cfg.Objects, u)
	m, missing := c.aimOf(own)
	name := u.Metadata.Name
	defer func() { p.views[name] = view{p.views[name].message, own.Status.Rollout} }()
	if missing != "" {
		p.say(name, resource.CondAgentPackageMissing, missing)
	}
	if own.Status.Rollout != nil && len(racks) == 0 && by != "" && !own.Status.Rollout.Phase.Over() {
		return c.supersede(ctx, p, own, by)
	}
	if own.Status.Rollout == nil || own.Status.Package != own.Spec.Package {
		if missing != "" || len(racks) == 0 && by != "" {
			p.views[name] = view{message: cmp.Or(missing, "AgentUpgrade "+by+" is newer, and for all of its racks")}
			return own.Status.Rollout, nil
		}
		if err := c.begin(ctx, p, own, m, seats); err != nil {
			return own.Status.Rollout, err
		}
	}
	was := *own.Status.Rollout
	in := rollout.Input{
		Now: local(p.now, own.Spec.Rollout), Spec: own.Spec.Rollout, Status: was, Stamped: was.Proved,
		Words: rollout.Words{Members: "racks", Boots: "run the release"},
	}
	m.still = still(p.now, own.Spec.Rollout, was.Phase)
	back := c.waysBack(seats, m)
	if in.Status.From = 0; back == "" {
		in.Status.From = 1
	}
	for _, s := range seats {
		in.Servers = append(in.Servers, m.server(s, p.now))
	}
	out := rollout.Step(in)
	if !in.Stamped && out.Status.Proved { // a canary has shown that it runs: nothing else proves a release
		in.Status, in.Stamped = out.Status, true
		first := out
		out = rollout.Step(in)
		out.Orders = append(first.Orders, out.Orders...)
	}
	m.still = m.still || still(p.now, own.Spec.Rollout, out.Status.Phase) // what stops it stops the other agents of racks at once
	if s := &out.Status; s.Phase == resource.RolloutPaused && was.Phase != s.Phase && s.By == "" && own.Spec.Rollout.OnFailure == resource.OnFailureRollback && back != "" {
		s.Reason += "; nobody is returned: " + back
	}
	if !same(was, out.Status) {
		own.Status.Rollout = &out.Status
		if err := c.cfg.Objects.Put(ctx, own); err != nil {
			return &was, err
		}
		c.cfg.Crash.At("hub.upgrade.stepped")
		c.tell(ctx, own, was, out)
	}
	p.views[name] = view{message: out.Message}
	p.judge(own, seats, m)
	m.still = still(p.now, own.Spec.Rollout, out.Status.Phase)
	return own.Status.Rollout, c.orders(ctx, p, own, m, seats, out)
}

// say adds a condition.
func (p *pass) say(name string, code resource.ConditionCode, text string) {
	p.conds[name] = append(p.conds[name], resource.ConditionState{Code: code, Message: text})
}

// maxNamed bounds the racks in a condition.
const maxNamed = 10

// judge says what is wrong with a roll-out.
func (p *pass) judge(u *resource.AgentUpgrade, seats []*seat, m aim) {
	name, ro := u.Metadata.Name, u.Status.Rollout
	switch ro.Phase {
	case resource.RolloutPaused:
		if ro.By == "" {
			p.say(name, resource.CondAgentUpgradeFailed, ro.Reason)
		}
	case resource.RolloutRolledBack, resource.RolloutFailed:
		p.say(name, resource.CondAgentUpgradeFailed, ro.Reason)
	default:
	}
	var unable []string
	for _, s := range seats {
		if a := s.active(); a != nil && m.unable(*a) == noUpgrade && !m.runs(*a) {
			unable = append(unable, s.rack.Metadata.Name)
		}
	}
	if n := len(unable); n > maxNamed {
		unable = append(unable[:maxNamed], fmt.Sprintf("%d more", n-maxNamed))
	}
	if len(unable) > 0 {
		p.say(name, resource.CondAgentNoUpgrade, "racks "+strings.Join(unable, ", ")+": "+noUpgrade)
	}
}

// aimOf is what the agents of an upgrade are to run; missing says why nobody can be told to.
func (c *Room) aimOf(u *resource.AgentUpgrade) (m aim, missing string) {
	m = aim{uid: u.Metadata.UID, digest: u.Spec.Package, deadline: u.Spec.Rollout.Deadline.D()}
	var err error
	if m.manifest, err = c.manifest(u.Spec.Package); err != nil {
		return m, fmt.Sprintf("package %s: %v", u.Spec.Package, err)
	}
	for _, b := range m.manifest.Binaries {
		if c.cfg.Files == nil || !c.cfg.Files.Has(b.SHA256) {
			return m, fmt.Sprintf("package %s: its program for %s is not here, or not whole", u.Spec.Package, b.Architecture)
		}
	}
	return m, ""
}

func (c *Room) manifest(digest string) (m agentpackage.Manifest, err error) {
	stored, err := c.cfg.Packages.Get(digest)
	if err != nil {
		return m, err
	}
	return agentpackage.Read(stored.Manifest)
}

// local is the time in the zone of the windows.
func local(now time.Time, spec resource.RolloutSpec) time.Time {
	if at, err := spec.Local(now); err == nil {
		return at
	}
	return now // in which windows of another zone are not to be read, so that none is open
}

// same says whether two statuses are stored alike.
func same(a, b resource.RolloutStatus) bool {
	if len(a.Members) == 0 && len(b.Members) == 0 {
		a.Members, b.Members = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// begin begins the roll-out of a package.
func (c *Room) begin(ctx context.Context, p *pass, u *resource.AgentUpgrade, m aim, seats []*seat) error {
	revision := 1
	if was := u.Status.Rollout; was != nil {
		revision = was.Revision + 1
	}
	var servers []rollout.Server
	for _, s := range seats {
		servers = append(servers, m.server(s, p.now))
	}
	next := rollout.Begin(p.now, u.Spec.Rollout, revision, 0, servers)
	u.Status.Rollout, u.Status.Package, u.Status.Version = &next, m.digest, m.manifest.Version
	if err := c.cfg.Objects.Put(ctx, u); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.upgrade.begun")
	c.event(ctx, u, "begins to bring release %s to the agents of %d racks in %d waves", m.manifest.Version, len(next.Members), next.Waves)
	return nil
}

// supersede ends a roll-out all of whose racks a newer upgrade has.
func (c *Room) supersede(ctx context.Context, p *pass, u *resource.AgentUpgrade, by string) (*resource.RolloutStatus, error) {
	next := rollout.Supersede(p.now, *u.Status.Rollout, u.Status.Rollout.Revision)
	next.Reason = "AgentUpgrade " + by + " is newer, and for all of its racks"
	u.Status.Rollout = &next
	if err := c.cfg.Objects.Put(ctx, u); err != nil {
		return &next, err
	}
	c.cfg.Crash.At("hub.upgrade.superseded")
	c.event(ctx, u, "is superseded: %s", next.Reason)
	return &next, nil
}

// tell files what a step has changed that people want to know.
func (c *Room) tell(ctx context.Context, u *resource.AgentUpgrade, was resource.RolloutStatus, out rollout.Result) {
	now := out.Status
	switch {
	case now.Phase != was.Phase && (now.Phase.Over() || now.Phase == resource.RolloutPaused):
		c.event(ctx, u, "is %s: %s", now.Phase, out.Message)
	case now.Wave > was.Wave:
		c.event(ctx, u, "begins its next wave: %s", out.Message)
	}
}
