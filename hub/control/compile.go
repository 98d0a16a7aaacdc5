package control

import (
	"context"
	"errors"
	"fmt"

	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/protocol/message"
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
		if !c.Link.Heed(agent, docs.TooOld, docs.Unheeded) || c.fence.SteppedDown() {
			continue
		}
		_, err := c.Link.Enter(ctx, agent, func(e *link.Entry) { e.PutRacks(docs.Racks) })
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger of %s: %w", agent, err))
		}
		c.Link.SendTo(agent, c.cfg.Clock())
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
			if _, several := l.Sent[link.RackLeaf(1)]; !several {
				break
			}
			var d message.RackDoc
			sent, ok := l.Sent[link.RackLeaf(i-1)]
			if !ok {
				break
			}
			topic := message.TopicDown(r.Status.Agent, link.RackLeaf(i-1))
			if c.Link.Open(topic, sent.Body, &d) == nil {
				for _, s := range d.Servers {
					out[s.Server] = d.Shard
				}
			}
		}
	}
	return out
}
