package control

import (
	"context"
	"errors"
	"time"

	"rackboot/protocol"
)

const (
	// requestKept is how long the outcome of a request can be asked for.
	requestKept = 24 * time.Hour
	// requestSilence is how long after its notAfter a request whose agent says
	// nothing is given up; agents end one within an hour of its acceptance.
	requestSilence = 2 * time.Hour
)

// sweep bounds the stored requests: one whose agent is silent ends as unknown, and
// one that ended is forgotten some time later.
func (c *Control) sweep(ctx context.Context) error {
	now := c.cfg.Clock()
	var errs []error
	for _, q := range c.cfg.Store.Requests() {
		switch {
		case !ended(q.Report.Outcome) && now.Sub(q.NotAfter) > requestSilence:
			q.Report = protocol.RequestReport{ID: q.ID, Outcome: protocol.OutcomeUnknown, At: now, Reason: "its agent has not said"}
			errs = append(errs, c.cfg.Store.PutRequest(ctx, q))
		case ended(q.Report.Outcome) && now.Sub(q.NotAfter) > requestKept:
			errs = append(errs, c.cfg.Store.RemoveRequest(ctx, q.ID))
		}
	}
	return errors.Join(errs...)
}
