package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

const (
	// requestKept is how long the outcome of a request can be asked for.
	requestKept = 24 * time.Hour
	// requestSilence is how long after its notAfter a request whose agent does not
	// speak of it is given up. One that waits behind a hold is spoken of in each report.
	requestSilence = 2 * time.Hour
)

// sweep bounds the stored requests: one whose agent is silent ends as unknown, and
// one that ended is forgotten some time later.
func (c *Control) sweep(ctx context.Context) error {
	now := c.cfg.Clock()
	var errs []error
	for _, q := range c.cfg.Store.Requests() {
		silent := min(now.Sub(q.NotAfter), now.Sub(c.began)) // a hub that has just started has heard nobody
		switch {
		case !q.Report.Outcome.Ended() && silent > requestSilence && !c.pending(q):
			q.Report = resource.RequestReport{ID: q.ID, Outcome: resource.OutcomeUnknown, At: now, Reason: "its agent has not said"}
			errs = append(errs, c.cfg.Store.PutRequest(ctx, q))
		case q.Report.Outcome.Ended() && now.Sub(q.NotAfter) > requestKept:
			errs = append(errs, c.cfg.Store.RemoveRequest(ctx, q.ID))
		}
	}
	return errors.Join(errs...)
}

// pending says whether the agent that was given a request speaks of it as one that it
// has yet to do.
func (c *Control) pending(q store.StoredRequest) bool {
	r, _ := c.reports.Server(q.Server)
	return r != nil && slices.ContainsFunc(r.Requests, func(s resource.RequestReport) bool {
		return s.ID == q.ID && !s.Outcome.Ended()
	})
}
