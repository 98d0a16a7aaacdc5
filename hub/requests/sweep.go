package requests

import (
	"context"
	"errors"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

const (
	// Kept is how long the outcome of a request can be asked for.
	Kept = 24 * time.Hour
	// Silence is how long after its notAfter a request whose agent does not
	// speak of it is given up. One that waits behind a hold is spoken of in each report.
	Silence = 2 * time.Hour
)

// Sweep bounds the stored requests: one whose agent is silent ends as unknown, and
// one that ended is forgotten some time later.
func (r *Room) Sweep(ctx context.Context) error {
	now := r.cfg.Clock()
	var errs []error
	for _, q := range r.cfg.Requests.List() {
		silent := min(now.Sub(q.NotAfter), now.Sub(r.cfg.Began)) // a hub that has just started has heard nobody
		switch {
		case !q.Report.Outcome.Ended() && silent > Silence && !r.pending(q):
			q.Report = resource.RequestReport{ID: q.ID, Outcome: resource.OutcomeUnknown, At: now, Reason: "its agent has not said"}
			errs = append(errs, r.cfg.Requests.Put(ctx, q))
		case q.Report.Outcome.Ended() && now.Sub(q.NotAfter) > Kept:
			errs = append(errs, r.cfg.Requests.Remove(ctx, q.ID))
		}
	}
	return errors.Join(errs...)
}

// pending says whether the agent that was given a request speaks of it as one that it
// has yet to do.
func (r *Room) pending(q store.StoredRequest) bool {
	said, _ := r.cfg.Reports.Server(q.Server)
	return said != nil && slices.ContainsFunc(said.Requests, func(s resource.RequestReport) bool {
		return s.ID == q.ID && !s.Outcome.Ended()
	})
}
