package control

import (
	"strings"
	"time"

	"rackboot/hub/env"
	"rackboot/hub/grants"
	"rackboot/hub/plan"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Decorate fills the status of a resource that is about to be printed from the
// mirror of reports. Nothing of it is stored.
func (c *Control) Decorate(obj resource.Object) {
	switch o := obj.(type) {
	case *resource.Server:
		c.decorateServer(o)
	case *resource.BMC:
		c.Inventory.Decorate(o)
	case *resource.Claim:
		c.decorateClaim(o)
	case *resource.Maintenance:
		c.decorateMaintenance(o)
	case *resource.Rack:
		if s := c.Approvals.Stance(o); o.Status.Agent != "" {
			o.Status.Approvals = &s
		}
	case *resource.Hold:
		c.decorateHold(o)
	case *resource.Agent:
		c.decorateAgent(o)
	case *resource.Secret:
		c.Inventory.DecorateSecret(o)
	case *resource.BootEnv:
		c.Env.Decorate(o)
	case *resource.BootImage:
		o.Status.Conditions = c.images.Conditions(o.Metadata.Name)
	case *resource.ServerGroup:
		c.Groups.Decorate(o)
	case *resource.BootConfiguration:
		o.Status.State = resource.BootConfigReady
		if r, _ := c.reports.Server(o.Spec.Server); r != nil && r.Attempt != nil && r.OwnerUID == o.Spec.Owner.UID {
			o.Status.HTTPBootURI = r.Attempt.URI
		}
	}
}

func (c *Control) decorateServer(s *resource.Server) {
	f := c.around(s)
	name := s.Metadata.Name
	r, at := c.reports.Server(name)
	in := plan.Intent(f, s)
	s.Status = resource.ServerStatus{Phase: decide.Phase(&in, r), Claim: in.Owner.Name, Report: r, AcceptedIdentity: s.Status.AcceptedIdentity, Firmware: in.Firmware, Discovered: s.Status.Discovered, Discovery: s.Status.Discovery, BootEnv: s.Status.BootEnv, OS: s.Status.OS}
	if in.Owner.Kind == resource.PurposeDiscovery {
		s.Status.Claim = "" // nobody's
	}
	if r != nil {
		s.Status.Conditions = append(s.Status.Conditions, r.Conditions...)
	}
	env.DecorateServer(s)
	s.Status.Conditions = append(s.Status.Conditions, c.Inventory.ServerConditions(name)...)
	c.decorateDiscovery(in, s)
	c.Inventory.DecorateServer(f, s)
	c.decorateSafety(f, s)
	if why := c.tooOld(f, name); why != "" {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondAgentTooOld, Since: c.began, Message: why})
	}
	read := c.readOf(name, f.RackOf(name))
	if s.Status.ReadAt, s.Status.Stale = read.when(), r != nil && read.stale(); s.Status.Stale {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondStale, Since: read.since.Add(read.bound), Message: read.text()})
	}
	switch now := c.cfg.Clock(); {
	case !f.HasAgent(name):
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondNoAgent, Since: now})
	case r == nil || now.Sub(at) > reports.DarkAfter:
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondDark, Since: c.since(at)})
	}
}

// tooOld is what the rack's agent lacks for the server's boot, and what of its holds
// it does not heed.
func (c *Control) tooOld(f plan.Fleet, server string) string {
	r := f.Rack(f.RackOf(server))
	if r == nil || r.Status.Agent == "" {
		return ""
	}
	var why []string
	tooOld, unheeded := c.Link.Limits(r.Status.Agent)
	if lacking := tooOld[server]; len(lacking) > 0 {
		why = append(why, "its boot needs what the agent lacks: "+list(lacking))
	}
	if terms := unheeded[server]; len(terms) > 0 {
		why = append(why, "the agent does not heed "+strings.Join(terms, "; "))
	}
	return strings.Join(why, "; ")
}

// around is as much of the fleet as concerns one server, so that printing a server
// costs the same however many there are.
func (c *Control) around(s *resource.Server) plan.Fleet {
	f := plan.Fleet{Now: c.cfg.Clock(), Servers: []*resource.Server{s}}
	if b, err := store.Get[*resource.BMC](c.cfg.Store, s.Spec.BMCRef.Name); err == nil {
		f.BMCs = []*resource.BMC{b}
		if r, err := store.Get[*resource.Rack](c.cfg.Store, b.Spec.RackRef.Name); err == nil {
			f.Racks = []*resource.Rack{r}
		}
	}
	if cl := c.cfg.Store.ClaimOf(s.Metadata.Name); cl != nil {
		f.Claims = []*resource.Claim{cl}
		if b, err := store.Get[*resource.BootConfiguration](c.cfg.Store, cl.Metadata.Name); err == nil {
			f.Configs = []*resource.BootConfiguration{b}
		}
	}
	if b, err := store.Get[*resource.BootConfiguration](c.cfg.Store, plan.DiscoveryName(s)); err == nil {
		f.Configs = append(f.Configs, b)
	}
	if m := c.cfg.Store.MaintenanceOf(s.Metadata.Name); m != nil {
		f.Maintenances = []*resource.Maintenance{m}
		if b, err := store.Get[*resource.BootConfiguration](c.cfg.Store, grants.MaintenanceName(m.Metadata.UID)); err == nil {
			f.Configs = append(f.Configs, b)
		}
	}
	return f
}

// since is when a report came; before the first one, when the hub began to wait.
func (c *Control) since(at time.Time) time.Time {
	if at.IsZero() {
		return c.began
	}
	return at
}

func (c *Control) decorateClaim(cl *resource.Claim) {
	cl.Status.ObservedGeneration = cl.Metadata.Generation
	cl.Status.Conditions = append(c.unbound.Of(cl.Metadata.Name), c.conds.Of(cl.Metadata.Name)...)
	s, err := store.Get[*resource.Server](c.cfg.Store, cl.Status.Server)
	if err != nil {
		return
	}
	c.decorateServer(s)
	cl.Status.Phase = s.Status.Phase
	for _, cond := range s.Status.Conditions {
		if cond.Code != resource.CondNoAgent {
			cl.Status.Conditions = append(cl.Status.Conditions, cond)
		}
	}
}
