package control

import (
	"context"
	"errors"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// view is the fleet at a moment: its resources are the store's own, and not to be
// changed.
type view struct {
	plan.Fleet
	at uint64 // Changes of the store
}

// look is a view of what is stored now: the last one, where nothing was written since.
// The reports in it may be older, but a report that comes makes another pass.
func (c *Control) look(last view) view {
	at := c.cfg.Store.Changes()
	if last.at == at && at > 0 {
		return last
	}
	return view{c.fleet(), at}
}

// fleet reads everything that a decision depends on.
func (c *Control) fleet() plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{
		Racks: store.List[*protocol.Rack](s), Agents: store.List[*protocol.Agent](s), Segments: store.List[*protocol.Segment](s),
		BMCs: store.List[*protocol.BMC](s), Servers: store.List[*protocol.Server](s), Claims: store.List[*protocol.Claim](s),
		Configs: store.List[*protocol.BootConfiguration](s), Holds: store.List[*protocol.Hold](s), Reports: c.mirror.servers(),
		Now: c.cfg.Clock(),
	}
	f.Peers, f.Requests = c.peers(f.Racks), c.openRequests()
	return f.Indexed()
}

// reconcile is one pass. Each step writes one key, and a pass that a crash cut
// off is completed by the next. What cannot be done for one claim stops no other,
// and never a hold.
func (c *Control) reconcile(ctx context.Context) error {
	if c.steppedDown() {
		return nil
	}
	v := c.look(view{})
	errs := []error{c.vacate(ctx, v.Fleet)}
	errs = append(errs, c.bmcs(ctx, v))
	v = c.look(v)
	bindings, unbound := plan.Bind(v.Fleet)
	for _, b := range bindings {
		errs = append(errs, c.bind(ctx, b))
	}
	v = c.look(v)
	f := v.Fleet
	conds := map[string][]protocol.ConditionState{}
	for _, u := range unbound {
		conds[u.Claim] = append(conds[u.Claim], protocol.ConditionState{Code: protocol.CondUnbound, Message: u.Reason})
	}
	for _, cl := range f.Claims {
		extra, err := c.claim(ctx, f, cl)
		errs = append(errs, err)
		conds[cl.Metadata.Name] = append(conds[cl.Metadata.Name], extra...)
	}
	c.conds.keep(conds, c.cfg.Clock())
	errs = append(errs, c.firmwareOver(ctx, f), c.removeReleased(ctx, f), c.sweep(ctx), c.compile(ctx, v))
	// Afterwards: a hold is on its way before it is written about.
	errs = append(errs, c.audit(ctx, store.List[*protocol.Hold](c.cfg.Store)))
	return errors.Join(errs...)
}

// vacate frees racks whose agent was deleted. The term stays, so that what the
// deleted agent still says or hears is refused.
func (c *Control) vacate(ctx context.Context, f plan.Fleet) error {
	for _, r := range f.Racks {
		if r.Status.Agent == "" || slices.ContainsFunc(f.Agents, func(a *protocol.Agent) bool { return a.Metadata.Name == r.Status.Agent }) {
			continue
		}
		var servers []string
		for _, s := range f.Servers {
			if f.RackOf(s.Metadata.Name) == r.Metadata.Name {
				servers = append(servers, s.Metadata.Name)
			}
		}
		c.mirror.drop(r.Status.Agent, servers)
		c.contacts.drop(r.Status.Agent)
		c.found.drop(r.Metadata.Name)
		own := store.Copy(c.cfg.Store, r)
		own.Status.Agent = ""
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
	}
	return nil
}

func (c *Control) bind(ctx context.Context, b plan.Binding) error {
	cl, err := store.Get[*protocol.Claim](c.cfg.Store, b.Claim)
	if err != nil {
		return err
	}
	cl.Status.Server = b.Server
	if err := c.cfg.Store.Put(ctx, cl); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.claim.bound")
	c.events.own(ctx, b.Server, protocol.EventBound, "claim "+b.Claim)
	return nil
}

// claim moves one claim along: validate, configure and grant; or let it go.
func (c *Control) claim(ctx context.Context, f plan.Fleet, cl *protocol.Claim) ([]protocol.ConditionState, error) {
	cfg := f.ConfigOf(cl)
	if cl.Metadata.DeletedAt != nil {
		return nil, errors.Join(c.endAsked(ctx, cl), c.letGo(ctx, f, cl, cfg))
	}
	conds := plan.Claimed(cl, cfg, c.rackHasAgent(f, cl.Status.Server))
	if cfg != nil || cl.Status.Server == "" {
		return conds, nil
	}
	srv, err := store.Get[*protocol.Server](c.cfg.Store, cl.Status.Server)
	if err != nil {
		return conds, err
	}
	img, cond := c.images.get(cl, srv.Spec.Architecture)
	if cond != nil {
		return append(conds, *cond), nil
	}
	if img == nil {
		return conds, nil
	}
	return conds, c.configure(ctx, cl, srv, *img)
}

// firstBootAttempts is how often a first boot that fetched nothing may be tried.
const firstBootAttempts = 3

// configure makes the claim's boot configuration with its grant. Both are one
// key, written once.
func (c *Control) configure(ctx context.Context, cl *protocol.Claim, srv *protocol.Server, img protocol.Image) error {
	cfg := &protocol.BootConfiguration{Spec: protocol.BootConfigurationSpec{
		Server: cl.Status.Server, Purpose: protocol.PurposeClaim, Claim: cl.Metadata.Name, ClaimUID: cl.Metadata.UID,
		Image: img, BootPolicy: cl.Spec.BootPolicy,
	}}
	now := c.cfg.Clock()
	cfg.Metadata = protocol.Metadata{Name: cl.Metadata.Name, UID: c.cfg.NewID(), Generation: 1, CreatedAt: &now}
	cfg.Default()
	grant, err := wire.Seal(c.cfg.Signer, wire.FactGrant, protocol.Grant{
		ClaimUID: cl.Metadata.UID, Generation: 1, Server: srv.Metadata.Name, ServerUID: srv.Metadata.UID,
		ImageDigest: img.Digest, FirstBoot: cl.Spec.BootPolicy.FirstBoot, MaxAttempts: firstBootAttempts, IssuedAt: now,
	})
	if err != nil {
		return err
	}
	cfg.Spec.Grant = grant
	if err := c.cfg.Store.Put(ctx, cfg); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.claim.configured")
	c.events.own(ctx, cl.Status.Server, protocol.EventResolved, img.Reference+" is "+img.Digest+"; grant given")
	return nil
}

// letGo removes a claim whose server was proved Off, its configuration first: a
// claim of the same name can only come after both.
func (c *Control) letGo(ctx context.Context, f plan.Fleet, cl *protocol.Claim, cfg *protocol.BootConfiguration) error {
	if cl.Status.Server != "" {
		r := f.Reports[cl.Status.Server]
		if r == nil || !r.Released || r.ClaimUID != cl.Metadata.UID {
			return nil
		}
	}
	if cfg != nil {
		if err := c.cfg.Store.Remove(ctx, cfg); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.claim.unconfigured")
	}
	c.images.forget(func(q question) bool { return q.claimUID == cl.Metadata.UID })
	return c.cfg.Store.Remove(ctx, cl)
}

// endAsked ends the requests that were made of a claim which goes, as far as no agent
// has been given them: one that has says itself how they ended.
func (c *Control) endAsked(ctx context.Context, cl *protocol.Claim) error {
	var errs []error
	for _, q := range c.cfg.Store.Requests() {
		if q.Precondition.ClaimUID == cl.Metadata.UID && q.Incarnation == "" && !ended(q.Report.Outcome) {
			errs = append(errs, c.endRequest(ctx, q, protocol.OutcomeRefused, "the claim ends"))
		}
	}
	return errors.Join(errs...)
}

func (c *Control) rackHasAgent(f plan.Fleet, server string) bool {
	rack := f.RackOf(server)
	for _, r := range f.Racks {
		if r.Metadata.Name == rack {
			return r.Status.Agent != ""
		}
	}
	return false
}
