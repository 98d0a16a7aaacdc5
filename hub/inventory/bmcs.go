package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

// Find makes resources of the BMCs that agents found.
func (c *Room) Find(ctx context.Context, f plan.Fleet) error {
	var errs []error
	agents := map[string][]resource.ConditionState{}
	for _, r := range f.Racks {
		found := c.found.of(r.Metadata.Name)
		if r.Status.Agent == "" || len(found) == 0 {
			continue
		}
		findings, gone, left := plan.Findings(f, r.Metadata.Name, found)
		for _, n := range findings {
			errs = append(errs, c.keepFinding(ctx, n))
		}
		for _, b := range gone {
			errs = append(errs, c.cfg.Store.Objects.Remove(ctx, b))
		}
		c.found.leave(r.Metadata.Name, left)
		if left > 0 {
			agents[r.Status.Agent] = append(agents[r.Status.Agent], resource.ConditionState{
				Code:    resource.CondBMCPending,
				Message: fmt.Sprintf("%d BMCs were found and left out: %d of the rack wait already, or their names are taken; accept or delete some", left, resource.MaxFound),
			})
		}
	}
	c.agentConds.Keep(f.Of, agents, c.cfg.Clock())
	return errors.Join(errs...)
}

// SeeBehind makes Servers of what is behind the BMCs, and sees to their accounts.
func (c *Room) SeeBehind(ctx context.Context, f plan.Fleet) error {
	var errs []error
	conds := bmcConditions{profiles: store.List[*resource.FirmwareProfile](c.cfg.Store.Objects), bmcs: map[string][]resource.ConditionState{}, servers: map[string][]resource.ConditionState{}}
	for _, b := range f.BMCs {
		errs = append(errs, c.rotation(ctx, f, b, &conds), c.dropOwn(ctx, b), c.sealAgain(ctx, f, b, &conds), c.behind(ctx, f, b, &conds))
	}
	now := c.cfg.Clock()
	c.bmcConds.Keep(f.Of, conds.bmcs, now)
	c.serverConds.Keep(f.Of, conds.servers, now)
	return errors.Join(errs...)
}

func (c *Room) keepFinding(ctx context.Context, n plan.Finding) error {
	if n.Accepted && !n.New {
		n.BMC.Metadata.Generation++
	}
	if err := c.cfg.Store.Objects.Put(ctx, n.BMC); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.bmc.found")
	name := n.BMC.Metadata.Name
	if n.New {
		c.cfg.Events.OwnOf(ctx, resource.TargetOf(n.BMC), "", resource.EventFoundBMC, fmt.Sprintf("%s by %s at %s on segment %s", name, n.BMC.Status.Found.By, n.BMC.Reach(), n.BMC.Status.Found.Segment))
	}
	if n.Accepted {
		c.cfg.Events.OwnOf(ctx, resource.TargetOf(n.BMC), "", resource.EventAcceptedBMC, name+" by the rule of "+n.BMC.Status.AcceptedBy)
	}
	c.cfg.Logger.Info("bmc found", "bmc", name, "new", n.New, "accepted", n.Accepted, "address", n.BMC.Reach())
	return nil
}

// bmcConditions are collected in one pass, which compares the servers with profiles.
type bmcConditions struct {
	profiles      []*resource.FirmwareProfile
	bmcs, servers map[string][]resource.ConditionState
}

func (k *bmcConditions) bmc(name string, code resource.ConditionCode, format string, args ...any) {
	k.bmcs[name] = append(k.bmcs[name], resource.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
}

func (k *bmcConditions) server(name string, code resource.ConditionCode, message string) {
	k.servers[name] = append(k.servers[name], resource.ConditionState{Code: code, Message: message})
}

// behind sees to what is behind one BMC: that its inventory is asked for, that its
// systems have Servers, and that what does not agree is said.
func (c *Room) behind(ctx context.Context, f plan.Fleet, b *resource.BMC, conds *bmcConditions) error {
	name, servers := b.Metadata.Name, f.Behind(b.Metadata.Name)
	intent, usable := plan.SealedIntent(f, b)
	head, read := c.cfg.Store.Inventories.PeekHead(name, b.Metadata.UID)
	wish := wishOf(f, conds.profiles, servers)
	last := c.readings.learn(subject{bmc: b, intent: intent, agent: agentOf(f, b), servers: servers, wish: wish, has: hasWish(c.cfg.Store.Inventories, b, wish)}, head.At, f.Reports, c.cfg.Clock())
	switch {
	case b.Pending():
		conds.bmc(name, resource.CondBMCPending, "%s", shown(b))
	case !usable:
		conds.bmc(name, resource.CondBMCUnreachable, "its address is not known: %s was not seen on a bmc segment of the rack", b.Spec.MACAddress)
	case last.agent == "":
		conds.bmc(name, resource.CondNoAgent, "rack %s", b.Spec.RackRef.Name)
	case c.cfg.Link.CannotAsk(last.agent):
		conds.bmc(name, resource.CondAgentTooOld, "agent %s cannot be asked what is behind the BMC", last.agent)
	}
	if b.Spec.TLS.Legacy && !b.Pending() {
		conds.bmc(name, resource.CondBMCLegacyTLS, "spec.tls.legacy is set")
	}
	for _, s := range servers {
		if srv := f.Server(s); srv != nil {
			if len(srv.Status.SharedMACs) > 0 {
				conds.server(s, resource.CondMACShared, sharedWords(srv))
			}
			if err := hearArchitecture(ctx, &c.cfg, f, srv, conds); err != nil {
				return err
			}
		}
		if b.Pending() {
			conds.server(s, resource.CondBMCPending, "its BMC "+name+" waits to be accepted, so the agent is not told of the server: rackctl bmc accept "+name)
		} else if !usable {
			conds.server(s, resource.CondBMCUnreachable, "the address of its BMC "+name+" is not known yet, so the agent is not told of the server")
		}
		if srv := f.Server(s); srv != nil {
			if _, several := settings.ProfileOf(srv, conds.profiles); len(several) > 0 {
				conds.server(s, resource.CondFirmwareConflict, strings.Join(several, " and ")+" select it")
			}
		}
	}
	trouble := accountTrouble(f, b, last, usable)
	conds.bmcs[name] = append(conds.bmcs[name], trouble...)
	var problems []string
	if last.problem != "" && usable && len(trouble) == 0 { // else it is said already
		problems = append(problems, "reading it failed: "+last.problem)
	}
	if read && !b.Pending() && !slices.Equal(last.agrees, compared(f, conds.profiles, b, head, servers)) {
		more, err := c.compare(ctx, f, b, last, conds)
		if err != nil {
			return err
		}
		problems = append(problems, more...)
	}
	if len(problems) > 0 {
		conds.bmc(name, resource.CondBMCInventory, "%s", strings.Join(problems, "; "))
	}
	return nil
}

// accountTrouble is what keeps the agent from speaking with an accepted BMC.
func accountTrouble(f plan.Fleet, b *resource.BMC, last reading, usable bool) []resource.ConditionState {
	if b.Pending() || !usable {
		return nil
	}
	var reports []*resource.ServerReport
	for _, s := range last.servers {
		reports = append(reports, f.Reports[s])
	}
	return plan.AccountTrouble(reports, resource.ConditionState{Code: last.trouble, Message: last.problem})
}

// compare holds the inventory of one BMC against its servers, and makes those of new systems. It
// returns what hinders it.
func (c *Room) compare(ctx context.Context, f plan.Fleet, b *resource.BMC, last reading, conds *bmcConditions) (problems []string, err error) {
	inv := c.cfg.Store.Inventories.Peek(b.Metadata.Name, b.Metadata.UID)
	if inv == nil {
		return nil, nil // it is gone since
	}
	if err := c.learnArchitectures(ctx, f, b, inv); err != nil {
		return nil, err
	}
	if err := c.shared.keep(ctx, f, b, inv.Systems); err != nil {
		return nil, err
	}
	systems, taken := c.shared.without(f, b, inv.Systems)
	d := plan.Discover(f, b, systems, inv.Made)
	if len(taken) > 0 && len(d.Problems) > 0 {
		d.Problems = append(d.Problems, "addresses that other servers have do not count: "+strings.Join(taken, ", "))
	}
	for s, diff := range d.Differs {
		conds.server(s, resource.CondBMCInventory, strings.Join(diff, "; "))
	}
	drifts := drifts(f, b, inv, last, conds)
	refused, err := c.makeServers(ctx, inv, d)
	problems = append(d.Problems, refused...)
	if err == nil && len(problems) == 0 && len(d.New) == 0 && len(d.Differs) == 0 && !drifts {
		head := store.InventoryHead{Revision: inv.Revision}
		c.readings.agree(b, compared(f, conds.profiles, b, head, f.Behind(b.Metadata.Name)))
	}
	return problems, err
}

// learnArchitectures keeps of each server what its BMC says of its architecture, where its own spec
// says nothing.
func (c *Room) learnArchitectures(ctx context.Context, f plan.Fleet, b *resource.BMC, inv *store.Inventory) error {
	var errs []error
	for _, name := range f.Behind(b.Metadata.Name) {
		s := f.Server(name)
		if s == nil || s.Spec.Architecture != "" {
			continue
		}
		sys := inv.System(s.Spec.SystemURI)
		if sys == nil || sys.HostArchitecture() == "" || sys.HostArchitecture() == s.Status.Architecture {
			continue
		}
		next, err := store.Get[*resource.Server](c.cfg.Store.Objects, name)
		if err == nil {
			next.Status.Architecture = sys.HostArchitecture()
			err = c.cfg.Store.Objects.Put(ctx, next)
		}
		if code := protocol.CodeOf(err); code != protocol.CodeConflict && code != protocol.CodeNotFound { // the next turn reads it again
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// compared are the revisions of what an inventory is compared with, and its own: where they agreed
// and none is another, nothing follows from comparing again.
func compared(f plan.Fleet, profiles []*resource.FirmwareProfile, b *resource.BMC, inv store.InventoryHead, servers []string) []uint64 {
	out := []uint64{b.Metadata.Revision, inv.Revision}
	for _, name := range servers {
		if s := f.Server(name); s != nil {
			out = append(out, s.Metadata.Revision)
		}
		if cl := f.ClaimOf(name); cl != nil {
			out = append(out, cl.Metadata.Revision)
		}
	}
	for _, p := range profiles {
		out = append(out, p.Metadata.Revision)
	}
	return out
}

// makeServers makes the Servers of new systems, and remembers for which systems there
// were some: first the Server, then that it was made. refused says which the store
// would not have.
func (c *Room) makeServers(ctx context.Context, inv *store.Inventory, d plan.Discovery) (refused []string, err error) {
	made := slices.Clone(inv.Made)
	add := func(uri string) {
		if !slices.Contains(made, uri) {
			made = append(made, uri)
		}
	}
	for _, uri := range d.Have {
		add(uri)
	}
	for _, s := range d.New {
		_, err := c.cfg.Store.Sets.Apply(ctx, []resource.Object{s}, store.ApplyOptions{Create: true, By: "inventory of " + inv.BMC})
		switch protocol.CodeOf(err) {
		case "":
			add(s.Spec.SystemURI)
			c.cfg.Crash.At("hub.bmc.server")
		case protocol.CodeInvalid, protocol.CodeConflict:
			refused = append(refused, fmt.Sprintf("%s: %s", s.Spec.SystemURI, err))
		default:
			return refused, err
		}
	}
	if len(made) == len(inv.Made) {
		return refused, nil
	}
	next := *inv
	next.Made = made
	return refused, c.cfg.Store.Inventories.Put(ctx, &next)
}

// agentOf is the agent of a BMC's rack; empty if it has none.
func agentOf(f plan.Fleet, b *resource.BMC) string {
	if r := f.Rack(b.Spec.RackRef.Name); r != nil {
		return r.Status.Agent
	}
	return ""
}

// shown is what people need to compare before they accept a BMC.
func shown(b *resource.BMC) string {
	if b.Status.Found == nil {
		return "it was never seen"
	}
	s := fmt.Sprintf("found by %s at %s", b.Status.Found.By, b.Status.Found.Address)
	if fp := b.Status.Found.Fingerprint; fp != "" {
		s += ", its certificate has the fingerprint " + fp
	}
	return s
}
