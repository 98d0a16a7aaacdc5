package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Met ends the rack's requests that were given to another database of an agent
// than the present one: it cannot know whether they were done (P9).
func (c *Control) Met(ctx context.Context, rack string, peer store.Peer) error {
	var errs []error
	for _, q := range c.cfg.Store.OpenRequestsOf(rack) {
		if q.Incarnation == "" || q.Incarnation == peer.Incarnation {
			continue
		}
		errs = append(errs, c.endRequest(ctx, q, resource.OutcomeUnknown, "was given to an earlier disk of the agent"))
	}
	return errors.Join(errs...)
}

func (c *Control) endRequest(ctx context.Context, q store.StoredRequest, o resource.Outcome, reason string) error {
	q.Report = resource.RequestReport{ID: q.ID, Outcome: o, At: c.cfg.Clock(), Reason: reason}
	return c.cfg.Store.PutRequest(ctx, q)
}

// give records to which database of which agent each grant and each request goes,
// before any document carries it. What was given stays given.
func (c *Control) give(ctx context.Context, f plan.Fleet) error {
	given := false
	var errs []error
	peers := map[string]store.Peer{} // of the agents that may be sent to, by rack
	for _, r := range f.Racks {
		l, err := c.cfg.Store.PeekLedger(r.Status.Agent)
		if err != nil || l.Peer.Incarnation == "" {
			continue
		}
		errs = append(errs, c.Met(ctx, r.Metadata.Name, l.Peer))
		if c.Link.Ready(r.Status.Agent) {
			peers[r.Metadata.Name] = l.Peer
		}
	}
	for _, b := range f.Configs {
		peer, ok := peers[f.RackOf(b.Spec.Server)]
		if !ok || len(b.Spec.Grant) == 0 || b.Status.GrantFor != "" || len(message.Lacking(peer.Capabilities, needs(b))) > 0 {
			continue
		}
		own := store.Copy(c.cfg.Store, b)
		own.Status.GrantFor, given = peer.Incarnation, true
		errs = append(errs, c.cfg.Store.Put(ctx, own))
	}
	for _, q := range c.requestsOf(f) {
		peer, ok := peers[q.Rack]
		if !ok || q.Incarnation != "" {
			continue
		}
		if lacking := message.Lacking(peer.Capabilities, message.RequestNeeds(q.Request)); len(lacking) > 0 {
			reason := fmt.Sprintf("the agent is too old: it lacks %s; upgrade it and ask again", list(lacking))
			errs = append(errs, c.endRequest(ctx, q, resource.OutcomeRefused, reason))
			continue
		}
		q.Incarnation, given = peer.Incarnation, true
		errs = append(errs, c.cfg.Store.PutRequest(ctx, q))
	}
	if given {
		c.cfg.Crash.At("hub.given")
	}
	return errors.Join(errs...)
}

// requestsOf are the open requests of a fleet's racks.
func (c *Control) requestsOf(f plan.Fleet) (out []store.StoredRequest) {
	for _, r := range f.Racks {
		out = append(out, c.cfg.Store.OpenRequestsOf(r.Metadata.Name)...)
	}
	return out
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

func list(caps []message.Capability) string {
	out := make([]string, len(caps))
	for i, c := range caps {
		out[i] = string(c)
	}
	return strings.Join(out, ", ")
}
