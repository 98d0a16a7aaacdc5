package discovery

import (
	"context"
	"errors"

	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// How discoveries end, for the metrics.
const (
	resultDone    = "done"
	resultGivenUp = "given-up"
)

// Turn moves the discovery of every server along, one step each. Each step
// writes one key: what was found is on disk before the configuration goes, and the
// server is Available only after both.
func (r *Room) Turn(ctx context.Context, f plan.Fleet) error {
	var errs []error
	for _, b := range plan.StrayDiscoveries(f) {
		errs = append(errs, r.cfg.Objects.Remove(ctx, b))
	}
	words := plan.Discoveries(f, func(rack *resource.Rack, s *resource.Server) plan.BootSeen { return r.image(f, rack, s) })
	conds := map[string][]resource.ConditionState{}
	for _, s := range f.Servers {
		w, ok := words[s.Metadata.Name]
		if cfg := f.DiscoveryOf(s.Metadata.Name); !ok && cfg != nil {
			errs = append(errs, r.cfg.Grants.Renew(ctx, cfg))
			cond, err := r.cfg.Env.Seal(ctx, f, cfg)
			errs = append(errs, err)
			if cond != nil {
				conds[s.Metadata.Name] = []resource.ConditionState{*cond}
			}
		}
		if !ok {
			continue
		}
		conds[s.Metadata.Name] = w.Conditions
		errs = append(errs, r.move(ctx, f, s, w))
	}
	r.sayWaits(ctx, f.Of, conds)
	return errors.Join(errs...)
}

// sayWaits keeps the conditions of servers whose discovery waits. Each is an event when
// it is news.
func (r *Room) sayWaits(ctx context.Context, unit string, conds map[string][]resource.ConditionState) {
	for name, list := range conds {
		was := r.conds.Of(name)
		for _, now := range list {
			news := true
			for _, old := range was {
				news = news && (old.Code != now.Code || old.Message != now.Message)
			}
			if news {
				r.cfg.Events.Own(ctx, name, resource.EventDiscovery, "waits: "+string(now.Code)+": "+now.Message)
			}
		}
	}
	r.conds.Keep(unit, conds, r.cfg.Clock())
}

// image is what is known of the image for a server's discovery. All servers of
// one architecture in a rack have one question, so that they boot the same.
func (r *Room) image(f plan.Fleet, rack *resource.Rack, s *resource.Server) plan.BootSeen {
	d := rack.Spec.Discovery
	if d.ImageFrom != nil {
		return r.cfg.Revisions.SeenBoot(d.ImageFrom, s, resource.DiscoveryPolicy(), d.KernelArgs)
	}
	if d.BootEnv != nil {
		return r.cfg.Env.Seen(f, s, d.BootEnv.Name, plan.EnvFor{
			Purpose: resource.PurposeDiscovery, KernelArgs: resource.JoinKernelArgs(s.Spec.KernelArgs, d.KernelArgs),
		}, "discovery")
	}
	return r.cfg.Images.Seen(
		f.Of, images.Question{Asker: asker(rack, s.Architecture()), Reference: d.Image, Architecture: s.Architecture(), Method: resource.DiscoveryPolicy().FirstBoot.Target()},
		s.Spec.KernelArgs, d.KernelArgs,
	)
}

// asker stands for the servers of one architecture in a rack that discovers.
func asker(rack *resource.Rack, architecture string) string {
	return "discovery/" + rack.Metadata.UID + "/" + architecture
}

// Askers adds those whose image is to be known: while a server of theirs is to be
// discovered. A tag that moves counts for those that come later.
func Askers(rack *resource.Rack, f plan.Fleet, there map[string]bool) {
	for _, s := range f.Servers {
		if plan.DiscoveryStateOf(f, s) == resource.DiscoveryWanted {
			there[asker(rack, s.Architecture())] = true
		}
	}
}

func (r *Room) move(ctx context.Context, f plan.Fleet, s *resource.Server, w plan.DiscoveryWord) error {
	name, cfg := s.Metadata.Name, f.DiscoveryOf(s.Metadata.Name)
	switch w.Then {
	case plan.DiscoveryBegin:
		rack, err := store.Peek[*resource.Rack](r.cfg.Objects, f.RackOf(name))
		if err != nil || rack.Spec.Discovery == nil {
			return err
		}
		group, revision := revisions.OfRevision(plan.BootSeen{From: w.From})
		return r.cfg.Grants.Make(ctx, grants.Wanted{
			Group: group, Revision: revision,
			Name: plan.DiscoveryName(s), Owner: string(resource.PurposeDiscovery), UID: r.cfg.NewID(), Purpose: resource.PurposeDiscovery,
			Policy: resource.DiscoveryPolicy(), Attempts: rack.Spec.Discovery.MaxAttempts,
			KernelArgs: resource.JoinKernelArgs(s.Spec.KernelArgs, rack.Spec.Discovery.KernelArgs),
		}, s, *w.Image)
	case plan.DiscoveryKeep:
		own := store.Copy(r.cfg.Objects, s)
		found := plan.Found(f.Reports[name], cfg)
		own.Status.Discovered, own.Status.Discovery = found, nil
		if err := r.cfg.Objects.Put(ctx, own); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.discovery.kept")
		r.ended.WithLabelValues(resultDone).Inc()
		r.cfg.Events.Own(ctx, name, resource.EventDiscovery, "the inventory is stored; "+found.ImageDigest+" was booted by "+string(found.Method))
		return nil
	case plan.DiscoveryGiveUp:
		own := store.Copy(r.cfg.Objects, s)
		now := r.cfg.Clock().UTC()
		own.Status.Discovery = &resource.DiscoveryStatus{FailedAt: &now, Reason: w.Message}
		if err := r.cfg.Objects.Put(ctx, own); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.discovery.given-up")
		r.ended.WithLabelValues(resultGivenUp).Inc()
		r.cfg.Events.Own(ctx, name, resource.EventDiscovery, "given up: "+w.Message)
		return nil
	case plan.DiscoveryEnd:
		own, now := store.Copy(r.cfg.Objects, cfg), r.cfg.Clock()
		own.Metadata.DeletedAt = &now
		if err := r.cfg.Objects.Put(ctx, own); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.discovery.ends")
		return nil
	case plan.DiscoveryReplace, plan.DiscoveryRemove:
		if err := r.cfg.Objects.Remove(ctx, cfg); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.discovery.unconfigured")
		said := "has ended"
		if w.Then == plan.DiscoveryReplace {
			said = "begins again: the agent has another disk than the one that was given the grant"
		} else if s.Status.Discovered != nil && s.Status.Discovery == nil {
			said = "has ended; the server is Available"
		}
		r.cfg.Events.Own(ctx, name, resource.EventDiscovery, said)
		return nil
	case plan.DiscoveryNothing, plan.DiscoveryWaits:
	}
	return nil
}

// Discover asks for another discovery of a server that nobody owns. Asking again before
// it has ended is no change. The codes are not_found, conflict, unavailable and timeout.
func (r *Room) Discover(ctx context.Context, name, by string) (*resource.Server, error) {
	const op = "discover server"
	for try := 1; ; try++ {
		s, err := store.Get[*resource.Server](r.cfg.Objects, name)
		if err != nil {
			return nil, err
		}
		if err := r.mayDiscover(s); err != nil {
			return nil, err
		}
		if d := s.Status.Discovery; d != nil && d.AskedAt != nil {
			return s, nil
		}
		now := r.cfg.Clock().UTC()
		s.Status.Discovery = &resource.DiscoveryStatus{AskedAt: &now, AskedBy: by}
		err = r.cfg.Objects.Put(ctx, s)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.cfg.Crash.At("hub.discovery.asked")
		r.cfg.Logger.Info("discovery asked", "op", op, "server", name, "by", by)
		r.cfg.Events.Own(ctx, name, resource.EventDiscovery, "asked by "+by)
		return s, nil
	}
}

// mayDiscover says why nobody can ask for a discovery of a server now.
func (r *Room) mayDiscover(s *resource.Server) error {
	const op = "discover server"
	name := s.Metadata.Name
	if cl := r.cfg.Claims.Of(name); cl != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "server %q has claim %q", name, cl.Metadata.Name).WithHint("it is discovered again when nobody owns it; delete the claim first")
	}
	if m := r.cfg.Maintenances.Of(name); m != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "server %q has maintenance %q", name, m.Metadata.Name).WithHint("wait for its end, or delete it")
	}
	for _, rack := range r.cfg.View.Around(s).Racks {
		if rack.Spec.Discovery != nil {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the rack of server %q has no discovery", name).WithHint("set spec.discovery of the Rack")
}
