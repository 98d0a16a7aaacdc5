package requests

import (
	"context"
	"errors"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Met ends the rack's requests that were given to another database of an agent
// than the present one: it cannot know whether they were done (P9).
func (r *Room) Met(ctx context.Context, rack string, peer store.Peer) error {
	var errs []error
	for _, q := range r.cfg.Requests.OpenOf(rack) {
		if q.Incarnation == "" || q.Incarnation == peer.Incarnation {
			continue
		}
		errs = append(errs, r.end(ctx, q, resource.OutcomeUnknown, "was given to an earlier disk of the agent"))
	}
	return errors.Join(errs...)
}

// Give records that a rack's requests are given to its agent's database, before any document carries
// them; it reports whether one was. What the agent is too old for ends.
func (r *Room) Give(ctx context.Context, rack string, peer store.Peer) (given bool, err error) {
	var errs []error
	for _, q := range r.cfg.Requests.OpenOf(rack) {
		if q.Incarnation != "" {
			continue
		}
		if lacking := message.Lacking(peer.Capabilities, message.RequestNeeds(q.Request)); len(lacking) > 0 {
			errs = append(errs, r.end(ctx, q, resource.OutcomeRefused, "the agent is too old: it lacks "+message.CapabilityList(lacking)+"; upgrade it and ask again"))
			continue
		}
		q.Incarnation, given = peer.Incarnation, true
		errs = append(errs, r.cfg.Requests.Put(ctx, q))
	}
	return given, errors.Join(errs...)
}

// Ended keeps how an agent says that a request of a server ended.
func (r *Room) Ended(ctx context.Context, server string, q resource.RequestReport) error {
	st, err := r.cfg.Requests.Get(q.ID)
	if err != nil || st.Server != server || st.Report.Outcome.Ended() || !q.Outcome.Ended() {
		return nil
	}
	st.Report = q
	return r.cfg.Requests.Put(ctx, st)
}

// EndOf ends the requests that were made of a claim which goes, as far as no agent
// has been given them: one that has says itself how they ended.
func (r *Room) EndOf(ctx context.Context, cl *resource.Claim) error {
	var errs []error
	for _, q := range r.cfg.Requests.OpenFor(cl.Metadata.UID) {
		if q.Incarnation == "" {
			errs = append(errs, r.end(ctx, q, resource.OutcomeRefused, "the claim ends"))
		}
	}
	return errors.Join(errs...)
}

func (r *Room) end(ctx context.Context, q store.StoredRequest, o resource.Outcome, reason string) error {
	q.Report = resource.RequestReport{ID: q.ID, Outcome: o, At: r.cfg.Clock(), Reason: reason}
	return r.cfg.Requests.Put(ctx, q)
}
