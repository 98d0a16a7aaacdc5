package link

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// ledgerTries bounds how often a change of a ledger is made again after somebody
// else changed it: the documents' versions and the agent's acknowledgements are
// written by two goroutines.
const ledgerTries = 8

// Ledgers are the hub's records of what each agent was sent and has acknowledged, and what it is.
type Ledgers struct {
	cfg   Config
	own   *wire.Verifier // of what this hub signed, also with its keys before
	lines lines
}

// change changes an agent's ledger; change says whether there is something
// to write. A hub that finds there that another one has taken over steps down; the code is
// unavailable.
func (c *Ledgers) change(ctx context.Context, agent string, change func(*store.Ledger) bool) (l store.Ledger, written bool, err error) {
	c.cfg.Store.Haste.GiveWay(ctx)
	ctx = c.cfg.Start.UnderFor(store.Prompt(ctx), agent) // who waits for the line may hurry
	line := c.lines.of(agent)
	select {
	case line <- struct{}{}:
		defer func() { <-line }()
	case <-ctx.Done():
		return l, false, protocol.Errorf(protocol.CodeTimeout, "change a ledger", "%w", ctx.Err())
	}
	for try := 1; ; try++ {
		if l, err = c.cfg.Store.Ledgers.Get(agent); err != nil {
			return l, false, err
		}
		if c.cfg.Start.Yields(ctx, agent, l.Owner) {
			return l, false, c.cfg.Start.Writable()
		}
		fence := c.cfg.Start.FenceFor(agent)
		if !change(&l) {
			return l, false, nil
		}
		l.Owner = fence
		err = c.cfg.Store.Ledgers.Put(ctx, &l)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == ledgerTries {
			return l, err == nil, err
		}
	}
}
