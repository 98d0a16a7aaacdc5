package store

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Approvals keeps what people are asked to approve.
type Approvals struct{ core *core }

// Put writes an approval: compare-and-set on its revision. The codes are
// invalid, conflict, unavailable and timeout.
func (a *Approvals) Put(ctx context.Context, r *StoredApproval) error {
	const op = "put approval"
	if !validToken(r.ID) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not an approval id", r.ID)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := a.core.put(ctx, bucketApproval+"."+r.ID, value, r.Revision)
	if err != nil {
		return stateError(op, err)
	}
	r.Revision = revision
	return nil
}

// List lists all approvals in the order of their ids, which is that of their
// creation. One that cannot be read is left out and logged.
func (a *Approvals) List() []StoredApproval { return a.decoded(a.core.mirror.list(bucketApproval)) }

// Open lists those that are not over.
func (a *Approvals) Open() []StoredApproval {
	return a.decoded(a.core.mirror.find(openApprovals, anyOpen()))
}

// OpenOf lists those of a rack that are not over.
func (a *Approvals) OpenOf(rack string) []StoredApproval {
	return a.decoded(a.core.mirror.find(openApprovals, refersTo(resource.KindRack, rack)))
}

// OpenFor lists those for a hold or a server that are not over.
func (a *Approvals) OpenFor(target string) []StoredApproval {
	return a.decoded(a.core.mirror.find(openApprovals, approvedTarget(target)))
}

func (a *Approvals) decoded(entries []*cached) (out []StoredApproval) {
	for _, e := range entries {
		r, err := decodeApproval(e.Value, e.Revision)
		if err != nil {
			a.core.logger.Error("stored approval cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Get returns one approval; not_found if there is none.
func (a *Approvals) Get(id string) (StoredApproval, error) {
	e, ok := a.core.mirror.get(bucketApproval + "." + id)
	if !ok || !validToken(id) {
		return StoredApproval{}, protocol.Errorf(protocol.CodeNotFound, "get approval", "approval %q does not exist", id).
			WithHint("rackctl approve list; they are forgotten a day after they ended")
	}
	return decodeApproval(e.Value, e.Revision)
}

// Remove deletes an approval; one that is gone already is no error. The codes
// are conflict, unavailable and timeout.
func (a *Approvals) Remove(ctx context.Context, id string) error {
	e, ok := a.core.mirror.get(bucketApproval + "." + id)
	if !ok {
		return nil
	}
	if err := a.core.remove(ctx, e.Key, e.Revision); err != nil {
		return stateError("remove approval", err)
	}
	return nil
}
