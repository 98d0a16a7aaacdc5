package dispatch

import (
	"context"
	"errors"
	"fmt"

	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/protocol/message"
)

// Compile brings the ledgers of the agents of a fleet's racks up to date, and sends. f is what is stored
// once [Room.Give] has recorded what it gave.
func (r *Room) Compile(ctx context.Context, f plan.Fleet) error {
	var errs []error
	f.Made.Shards = r.shards(f)
	for agent, docs := range plan.Compile(f) {
		if !r.cfg.Link.Heed(agent, docs.TooOld, docs.Unheeded) || !r.cfg.Start.WorksFor(agent) {
			continue
		}
		_, err := r.cfg.Link.Enter(ctx, agent, func(e *link.Entry) {
			if d := &docs.Holds; d.Standby { // that of the active agent has a lane of its own
				e.Put(message.LeafHold, d, &d.Head, &d.IssuedAt, &d.Fence)
			}
			e.PutRacks(docs.Racks)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger of %s: %w", agent, err))
		}
		r.cfg.Link.SendTo(agent, r.cfg.Clock())
	}
	return errors.Join(errs...)
}

// shards reads from the ledgers in which shard each server travelled last. Racks
// of one shard need no look.
func (r *Room) shards(f plan.Fleet) map[string]int {
	out := map[string]int{}
	for _, rack := range f.Racks {
		l, err := r.cfg.Ledgers.Peek(rack.Status.Agent)
		if err != nil {
			continue // enter says so
		}
		for i := 1; ; i++ {
			if _, several := l.Sent[link.RackLeaf(1)]; !several {
				break
			}
			var d message.RackDoc
			sent, ok := l.Sent[link.RackLeaf(i-1)]
			if !ok {
				break
			}
			topic := message.TopicDown(rack.Status.Agent, link.RackLeaf(i-1))
			if r.cfg.Link.Open(topic, sent.Body, &d) == nil {
				for _, s := range d.Servers {
					out[s.Server] = d.Shard
				}
			}
		}
	}
	return out
}
