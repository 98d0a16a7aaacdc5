package status

import (
	"strings"
	"time"

	"rackboot/hub/env"
	"rackboot/hub/plan"
	"rackboot/hub/reports"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func (c *Room) decorateServer(s *resource.Server) { c.DecorateIn(c.cfg.View.Around(s), s) }

// DecorateIn is [Room.Decorate] of a server in a fleet that was read already, which has what belongs to it.
func (c *Room) DecorateIn(f plan.Fleet, s *resource.Server) {
	name := s.Metadata.Name
	r, at := c.report(name)
	in := plan.Intent(f, s)
	s.Status = resource.ServerStatus{Phase: decide.Phase(&in, r), Claim: in.Owner.Name, Report: r, AcceptedIdentity: s.Status.AcceptedIdentity, ForgetTPM: s.Status.ForgetTPM, Architecture: s.Status.Architecture, HeardArchitecture: s.Status.HeardArchitecture, SharedMACs: s.Status.SharedMACs, Firmware: in.Firmware, Settings: s.Status.Settings.Bare(), Discovered: s.Status.Discovered, Discovery: s.Status.Discovery, BootEnv: s.Status.BootEnv, BootEnvOf: s.Status.BootEnvOf, OS: s.Status.OS, Reboots: s.Status.Reboots}.Of(in.Owner.UID)
	if in.Owner.Kind == resource.PurposeDiscovery {
		s.Status.Claim = "" // nobody's
	}
	if in.Boot != nil {
		s.Status.EvidenceClass, s.Status.Secrets = evidenceFor(c.cfg.Objects, c.cfg.Reports, in.Owner.UID)
	}
	if r != nil {
		s.Status.Conditions = append(s.Status.Conditions, r.Conditions...)
	}
	s.Status.Conditions = append(s.Status.Conditions, c.lost()...)
	if cond := plan.Orphaned(f, name, r); cond != nil {
		s.Status.Conditions = append(s.Status.Conditions, *cond)
	}
	env.DecorateServer(s)
	s.Status.Conditions = append(s.Status.Conditions, c.cfg.Inventory.ServerConditions(name)...)
	s.Status.Conditions = append(s.Status.Conditions, c.cfg.Discovery.Conditions(name)...)
	if d := s.Status.Discovery; in.Discovery == resource.DiscoveryFailed && d != nil && d.FailedAt != nil {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondDiscoveryFailed, Since: *d.FailedAt, Message: strings.TrimSpace(d.Reason)})
	}
	c.decorateSafety(f, s)
	if why := c.tooOld(f, name); why != "" {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondAgentTooOld, Since: c.cfg.Began, Message: why})
	}
	read := c.readOf(name, f.RackOf(name))
	if s.Status.ReadAt, s.Status.Stale = read.when(), r != nil && read.Stale(); s.Status.Stale {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondStale, Since: read.since.Add(read.bound), Message: read.text()})
	}
	switch now := c.cfg.Clock(); {
	case !f.HasAgent(name):
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondNoAgent, Since: now})
	case r == nil || now.Sub(at) > reports.DarkAfter:
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondDark, Since: c.since(at)})
	}
}

// report is the newest report of a server, with when it was read last, and when it came.
func (c *Room) report(server string) (*resource.ServerReport, time.Time) {
	r, at := c.cfg.Reports.Server(server)
	read := c.cfg.Reports.Read(server)
	if r == nil || read.Started.IsZero() && r.Firmware == nil {
		return r, at
	}
	own := *r
	own.Observation.StartedAt, own.Observation.ReadAt = read.Started, read.Ended
	own.ReadAge = read.Age
	own.Firmware = nil // it has values; see ServerStatus.Settings
	return &own, at
}

// tooOld is what the rack's agent lacks for the server's boot, and what of its holds
// it does not heed.
func (c *Room) tooOld(f plan.Fleet, server string) string {
	r := f.Rack(f.RackOf(server))
	if r == nil || r.Status.Agent == "" {
		return ""
	}
	var why []string
	tooOld, unheeded := c.cfg.Link.Limits(r.Status.Agent)
	if lacking := tooOld[server]; len(lacking) > 0 {
		why = append(why, "its boot needs what the agent lacks: "+message.CapabilityList(lacking))
	}
	if terms := unheeded[server]; len(terms) > 0 {
		why = append(why, "the agent does not heed "+strings.Join(terms, "; "))
	}
	return strings.Join(why, "; ")
}

// since is when a report came; before the first one, when the hub began to wait.
func (c *Room) since(at time.Time) time.Time {
	if at.IsZero() {
		return c.cfg.Began
	}
	return at
}
