package control

import (
	"context"
	"errors"
	"strings"

	"rackboot/hub/grants"
	"rackboot/hub/groups"
	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// How discoveries end, for the metrics.
const (
	discoveryDone    = "done"
	discoveryGivenUp = "given-up"
)

// discoveries moves the discovery of every server along, one step each. Each step
// writes one key: what was found is on disk before the configuration goes, and the
// server is Available only after both.
func (c *Control) discoveries(ctx context.Context, f plan.Fleet) error {
	var errs []error
	for _, b := range f.Stray() {
		errs = append(errs, c.cfg.Store.Remove(ctx, b))
	}
	words := plan.Discoveries(f, func(r *resource.Rack, s *resource.Server) plan.BootSeen { return c.discoveryImage(f, r, s) })
	conds := map[string][]resource.ConditionState{}
	for _, s := range f.Servers {
		w, ok := words[s.Metadata.Name]
		if cfg := f.DiscoveryOf(s.Metadata.Name); !ok && cfg != nil {
			errs = append(errs, c.grants.Renew(ctx, cfg))
			cond, err := c.Env.Seal(ctx, f, cfg)
			errs = append(errs, err)
			if cond != nil {
				conds[s.Metadata.Name] = []resource.ConditionState{*cond}
			}
		}
		if !ok {
			continue
		}
		conds[s.Metadata.Name] = w.Conditions
		errs = append(errs, c.discovery(ctx, f, s, w))
	}
	c.sayWaits(ctx, f.Of, conds)
	return errors.Join(errs...)
}

// sayWaits keeps the conditions of servers whose discovery waits. Each is an event when
// it is news.
func (c *Control) sayWaits(ctx context.Context, unit string, conds map[string][]resource.ConditionState) {
	for name, list := range conds {
		was := c.discoveryConds.Of(name)
		for _, now := range list {
			news := true
			for _, old := range was {
				news = news && (old.Code != now.Code || old.Message != now.Message)
			}
			if news {
				c.Events.Own(ctx, name, resource.EventDiscovery, "waits: "+string(now.Code)+": "+now.Message)
			}
		}
	}
	c.discoveryConds.Keep(unit, conds, c.cfg.Clock())
}

// discoveryImage is what is known of the image for a server's discovery. All servers of
// one architecture in a rack have one question, so that they boot the same.
func (c *Control) discoveryImage(f plan.Fleet, r *resource.Rack, s *resource.Server) plan.BootSeen {
	d := r.Spec.Discovery
	if d.ImageFrom != nil {
		return c.Groups.SeenBoot(d.ImageFrom, s, resource.DiscoveryPolicy(), d.KernelArgs)
	}
	if d.BootEnv != nil {
		return c.seenEnv(f, s, d.BootEnv.Name, plan.EnvFor{
			Purpose: resource.PurposeDiscovery, KernelArgs: resource.JoinKernelArgs(s.Spec.KernelArgs, d.KernelArgs),
		}, "discovery")
	}
	return c.seen(
		f.Of, images.Question{Asker: discoveryAsker(r, s.Spec.Architecture), Reference: d.Image, Architecture: s.Spec.Architecture, Method: resource.DiscoveryPolicy().FirstBoot.Target()},
		s.Spec.KernelArgs, d.KernelArgs,
	)
}

// discoveryAsker stands for the servers of one architecture in a rack that discovers.
func discoveryAsker(r *resource.Rack, architecture string) string {
	return "discovery/" + r.Metadata.UID + "/" + architecture
}

// discoveryAskers are those whose image is to be known: while a server of theirs is to be
// discovered. A tag that moves counts for those that come later.
func discoveryAskers(r *resource.Rack, f plan.Fleet, there map[string]bool) {
	for _, s := range f.Servers {
		if f.Discovery(s) == resource.DiscoveryWanted {
			there[discoveryAsker(r, s.Spec.Architecture)] = true
		}
	}
}

func (c *Control) discovery(ctx context.Context, f plan.Fleet, s *resource.Server, w plan.DiscoveryWord) error {
	name, cfg := s.Metadata.Name, f.DiscoveryOf(s.Metadata.Name)
	switch w.Then {
	case plan.DiscoveryBegin:
		rack, err := store.Peek[*resource.Rack](c.cfg.Store, f.RackOf(name))
		if err != nil || rack.Spec.Discovery == nil {
			return err
		}
		group, revision := groups.OfRevision(plan.BootSeen{From: w.From})
		return c.grants.Make(ctx, grants.Wanted{
			Group: group, Revision: revision,
			Name: plan.DiscoveryName(s), Owner: string(resource.PurposeDiscovery), UID: c.cfg.NewID(), Purpose: resource.PurposeDiscovery,
			Policy: resource.DiscoveryPolicy(), Attempts: rack.Spec.Discovery.MaxAttempts,
			KernelArgs: resource.JoinKernelArgs(s.Spec.KernelArgs, rack.Spec.Discovery.KernelArgs),
		}, s, *w.Image)
	case plan.DiscoveryKeep:
		own := store.Copy(c.cfg.Store, s)
		found := plan.Found(f.Reports[name], cfg)
		own.Status.Discovered, own.Status.Discovery = found, nil
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.discovery.kept")
		c.metrics.discoveries.WithLabelValues(discoveryDone).Inc()
		c.Events.Own(ctx, name, resource.EventDiscovery, "the inventory is stored; "+found.ImageDigest+" was booted by "+string(found.Method))
		return nil
	case plan.DiscoveryGiveUp:
		own := store.Copy(c.cfg.Store, s)
		now := c.cfg.Clock().UTC()
		own.Status.Discovery = &resource.DiscoveryStatus{FailedAt: &now, Reason: w.Message}
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.discovery.given-up")
		c.metrics.discoveries.WithLabelValues(discoveryGivenUp).Inc()
		c.Events.Own(ctx, name, resource.EventDiscovery, "given up: "+w.Message)
		return nil
	case plan.DiscoveryEnd:
		own, now := store.Copy(c.cfg.Store, cfg), c.cfg.Clock()
		own.Metadata.DeletedAt = &now
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.discovery.ends")
		return nil
	case plan.DiscoveryReplace, plan.DiscoveryRemove:
		if err := c.cfg.Store.Remove(ctx, cfg); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.discovery.unconfigured")
		said := "has ended"
		if w.Then == plan.DiscoveryReplace {
			said = "begins again: the agent has another disk than the one that was given the grant"
		} else if s.Status.Discovered != nil && s.Status.Discovery == nil {
			said = "has ended; the server is Available"
		}
		c.Events.Own(ctx, name, resource.EventDiscovery, said)
		return nil
	case plan.DiscoveryNothing, plan.DiscoveryWaits:
	}
	return nil
}

// Discover asks for another discovery of a server that nobody owns. Asking again before
// it has ended is no change. The codes are not_found, conflict, unavailable and timeout.
func (c *Control) Discover(ctx context.Context, name, by string) (*resource.Server, error) {
	const op = "discover server"
	for try := 1; ; try++ {
		s, err := store.Get[*resource.Server](c.cfg.Store, name)
		if err != nil {
			return nil, err
		}
		if err := c.mayDiscover(s); err != nil {
			return nil, err
		}
		if d := s.Status.Discovery; d != nil && d.AskedAt != nil {
			return s, nil
		}
		now := c.cfg.Clock().UTC()
		s.Status.Discovery = &resource.DiscoveryStatus{AskedAt: &now, AskedBy: by}
		err = c.cfg.Store.Put(ctx, s)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.discovery.asked")
		c.log.Info("discovery asked", "op", op, "server", name, "by", by)
		c.Events.Own(ctx, name, resource.EventDiscovery, "asked by "+by)
		return s, nil
	}
}

// mayDiscover says why nobody can ask for a discovery of a server now.
func (c *Control) mayDiscover(s *resource.Server) error {
	const op = "discover server"
	name := s.Metadata.Name
	if cl := c.cfg.Store.ClaimOf(name); cl != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "server %q has claim %q", name, cl.Metadata.Name).WithHint("it is discovered again when nobody owns it; delete the claim first")
	}
	if m := c.cfg.Store.MaintenanceOf(name); m != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "server %q has maintenance %q", name, m.Metadata.Name).WithHint("wait for its end, or delete it")
	}
	for _, r := range c.around(s).Racks {
		if r.Spec.Discovery != nil {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the rack of server %q has no discovery", name).WithHint("set spec.discovery of the Rack")
}

// decorateDiscovery says what the hub knows of a server's discovery. While one is under
// way, the agent says how it goes.
func (c *Control) decorateDiscovery(in message.ServerIntent, s *resource.Server) {
	s.Status.Conditions = append(s.Status.Conditions, c.discoveryConds.Of(s.Metadata.Name)...)
	if d := s.Status.Discovery; in.Discovery == resource.DiscoveryFailed && d != nil && d.FailedAt != nil {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondDiscoveryFailed, Since: *d.FailedAt, Message: strings.TrimSpace(d.Reason)})
	}
}
