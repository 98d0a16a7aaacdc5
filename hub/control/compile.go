package control

import (
	"context"
	"errors"
	"fmt"

	"rackboot/hub/plan"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// compile brings the ledger of a rack's agent up to date and sends; the hold document first.
func (c *Control) compile(ctx context.Context, v view) error {
	v = c.look(v)
	err := c.give(ctx, v.Fleet)
	errs := []error{err}
	for _, r := range v.Racks {
		_, _, err := c.holdsOf(ctx, r.Metadata.Name)
		errs = append(errs, err)
	}
	f := c.look(v).Fleet // as it is on disk
	f.Shards = c.shards(f)
	for agent, docs := range plan.Compile(f) {
		if !c.heed(agent, docs.TooOld, docs.Unheeded) || c.fence.SteppedDown() {
			continue
		}
		_, err := c.enter(ctx, agent, func(e *entry) { e.putRacks(docs.Racks) })
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger of %s: %w", agent, err))
		}
		c.resendTo(agent, c.cfg.Clock())
	}
	return errors.Join(errs...)
}

// shards reads from the ledgers in which shard each server travelled last. Racks
// of one shard need no look.
func (c *Control) shards(f plan.Fleet) map[string]int {
	out := map[string]int{}
	for _, r := range f.Racks {
		l, err := c.cfg.Store.PeekLedger(r.Status.Agent)
		if err != nil {
			continue // enter says so
		}
		for i := 1; ; i++ {
			if _, several := l.Sent[rackLeaf(1)]; !several {
				break
			}
			var d protocol.RackDoc
			sent, ok := l.Sent[rackLeaf(i-1)]
			if !ok {
				break
			}
			topic := protocol.TopicDown(r.Status.Agent, rackLeaf(i-1))
			if wire.Open(c.own, topic, sent.Body, &d) == nil {
				for _, s := range d.Servers {
					out[s.Server] = d.Shard
				}
			}
		}
	}
	return out
}
