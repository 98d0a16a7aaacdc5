package control

import (
	"context"
	"time"

	"rackboot/protocol"
)

// requestLife is how long an ended request can be asked for.
const requestLife = 24 * time.Hour

// prune forgets requests that ended long ago.
func (c *Control) prune(ctx context.Context) error {
	for _, q := range c.cfg.Store.Requests() {
		ended := q.Report.Outcome != "" && q.Report.Outcome != protocol.OutcomePending
		if ended && c.cfg.Clock().Sub(q.CreatedAt) > requestLife {
			if err := c.cfg.Store.RemoveRequest(ctx, q.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
