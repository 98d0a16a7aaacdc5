package dispatch

import (
	"context"
	"errors"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Give records to which database of which agent each grant and each request of a fleet's racks goes,
// before any document carries it. What was given stays given.
func (r *Room) Give(ctx context.Context, f plan.Fleet) error {
	given := false
	var errs []error
	peers := map[string]store.Peer{} // of the agents that may be sent to, by rack
	for _, rack := range f.Racks {
		name, agent := rack.Metadata.Name, rack.Status.Agent
		l, err := r.cfg.Ledgers.Peek(agent)
		if err != nil || l.Peer.Incarnation == "" {
			continue
		}
		errs = append(errs, r.cfg.Requests.Met(ctx, name, l.Peer))
		if !r.cfg.Link.Ready(agent) {
			continue
		}
		peers[name] = l.Peer
		asked, err := r.cfg.Requests.Give(ctx, name, l.Peer)
		given, errs = given || asked, append(errs, err)
	}
	for _, b := range f.Configs {
		peer, ok := peers[f.RackOf(b.Spec.Server)]
		if !ok || len(b.Spec.Grant) == 0 || b.Status.GrantFor != "" || len(message.Lacking(peer.Capabilities, needs(b))) > 0 {
			continue
		}
		own := store.Copy(r.cfg.Objects, b)
		own.Status.GrantFor, given = peer.Incarnation, true
		errs = append(errs, r.cfg.Objects.Put(ctx, own))
	}
	if given {
		r.cfg.Crash.At("hub.given")
	}
	return errors.Join(errs...)
}

// needs is what an agent must be able to do for a configuration.
func needs(b *resource.BootConfiguration) []message.Capability {
	in := message.BootIntent{Owner: resource.Owner{Kind: b.Spec.Owner.Kind}, GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: b.Spec.BootPolicy, Image: b.Spec.Image}}}
	if b.Spec.BootEnv != "" {
		in.Env = &message.EnvIntent{Name: b.Spec.BootEnv}
	}
	if b.Spec.Ignition != nil {
		in.Ignition = message.IgnitionOf(*b.Spec.Ignition)
	}
	return in.Needs()
}
