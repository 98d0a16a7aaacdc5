package bulk

import (
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// List lists those that a caller may see, the oldest first: its own, and an admin of everywhere sees all.
func (r *Room) List(who access.Caller) []api.BulkStatus {
	out := []api.BulkStatus{}
	for _, b := range r.cfg.Bulks.List() {
		if sees(who, b) {
			out = append(out, r.shown(b, false))
		}
	}
	return out
}

// Get returns one with its results; not_found where the caller may not see it.
func (r *Room) Get(who access.Caller, id string) (api.BulkStatus, error) {
	b, err := r.cfg.Bulks.Get(id)
	if err != nil {
		return api.BulkStatus{}, err
	}
	if !sees(who, b) {
		return api.BulkStatus{}, protocol.Errorf(protocol.CodeNotFound, "get bulk operation", "bulk operation %q does not exist", id).
			WithHint("rackctl get bulk lists yours; they are forgotten some time after they ended")
	}
	return r.shown(b, true), nil
}

func sees(who access.Caller, b store.StoredBulk) bool {
	return b.By == who.Name || slices.Contains(who.Roles, access.Admin) && who.Scope.Everywhere()
}

// stateOf is where an operation is. The first row that fits decides.
//
//	ended | stopped | cancelled | all tried | state
//	no    | *       | *         | *         | Running
//	yes   | yes     | *         | *         | Stopped
//	yes   | no      | yes       | no        | Cancelled
//	yes   | no      | *         | *         | Done
func stateOf(ended, stopped, cancelled, tried bool) api.BulkState {
	switch {
	case !ended:
		return api.BulkRunning
	case stopped:
		return api.BulkStopped
	case cancelled && !tried:
		return api.BulkCancelled
	}
	return api.BulkDone
}

// shown is an operation as people see it.
func (r *Room) shown(b store.StoredBulk, results bool) api.BulkStatus {
	s := api.BulkStatus{
		ID: b.ID, Action: api.BulkAction(b.Action), By: b.By, Parallel: b.Parallel, StopAfter: b.StopAfter,
		CreatedAt: b.CreatedAt, EndedAt: b.EndedAt, CancelledBy: b.CancelledBy,
	}
	left := api.BulkItemWaiting
	if b.EndedAt != nil {
		left = api.BulkItemNotTried
	}
	var failed, others []api.BulkResult
	for n := range b.Parts {
		for _, it := range r.cfg.Bulks.Items(b.ID, n) {
			s.Total++
			out := api.BulkResult{Name: it.Name, Outcome: left, Code: it.Code, Message: it.Message, Hint: it.Hint}
			switch {
			case it.Done:
				out.Outcome = api.BulkItemDone
				s.Done++
			case it.Code != "":
				out.Outcome = api.BulkItemFailed
				s.Failed++
			default:
				s.Waiting++
			}
			switch {
			case !results:
			case out.Outcome == api.BulkItemFailed:
				failed = append(failed, out)
			default:
				others = append(others, out)
			}
		}
	}
	s.State = stateOf(b.EndedAt != nil, b.Stopped, b.CancelledBy != "", s.Waiting == 0)
	if results {
		s.Results = slices.Concat(failed, others)
	}
	return s
}
