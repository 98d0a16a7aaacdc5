package store

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// PutApproval writes an approval: compare-and-set on its revision. The codes are
// invalid, conflict, unavailable and timeout.
func (s *Store) PutApproval(ctx context.Context, r *StoredApproval) error {
	const op = "put approval"
	if !validToken(r.ID) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not an approval id", r.ID)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := s.put(ctx, bucketApproval+"."+r.ID, value, r.Revision)
	if err != nil {
		return stateError(op, err)
	}
	r.Revision = revision
	return nil
}

// Approvals lists all approvals in the order of their ids, which is that of their
// creation. One that cannot be read is left out and logged.
func (s *Store) Approvals() []StoredApproval { return s.approvals(s.mirror.list(bucketApproval)) }

// OpenApprovals lists those that are not over.
func (s *Store) OpenApprovals() []StoredApproval {
	return s.approvals(s.mirror.find(openApprovals, anyOpen))
}

// OpenApprovalsOf lists those of a rack that are not over.
func (s *Store) OpenApprovalsOf(rack string) []StoredApproval {
	return s.approvals(s.mirror.find(openApprovals, reference(resource.KindRack, rack)))
}

// OpenApprovalsFor lists those for a hold or a server that are not over.
func (s *Store) OpenApprovalsFor(target string) []StoredApproval {
	return s.approvals(s.mirror.find(openApprovals, approvedTarget(target)))
}

func (s *Store) approvals(entries []*cached) (out []StoredApproval) {
	for _, e := range entries {
		r, err := decodeApproval(e.Value, e.Revision)
		if err != nil {
			s.logger.Error("stored approval cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, r)
	}
	return out
}

// GetApproval returns one approval; not_found if there is none.
func (s *Store) GetApproval(id string) (StoredApproval, error) {
	e, ok := s.mirror.get(bucketApproval + "." + id)
	if !ok || !validToken(id) {
		return StoredApproval{}, protocol.Errorf(protocol.CodeNotFound, "get approval", "approval %q does not exist", id).
			WithHint("rackctl approve list; they are forgotten a day after they ended")
	}
	return decodeApproval(e.Value, e.Revision)
}

// RemoveApproval deletes an approval; one that is gone already is no error. The codes
// are conflict, unavailable and timeout.
func (s *Store) RemoveApproval(ctx context.Context, id string) error {
	e, ok := s.mirror.get(bucketApproval + "." + id)
	if !ok {
		return nil
	}
	if err := s.remove(ctx, e.Key, e.Revision); err != nil {
		return stateError("remove approval", err)
	}
	return nil
}

// UnreleaseHold takes back the release of a hold that was not approved: it is as if it
// had not been released. One that is not released is left as it is. It is for a release
// that no agent was sent. The codes are not_found, unavailable and timeout.
func (s *Store) UnreleaseHold(ctx context.Context, id string) error {
	_, err := s.changeHold(ctx, "take the release back", id, func(h *resource.Hold) (bool, error) {
		if h.Status.ReleasedAt == nil {
			return false, nil
		}
		h.Status.ReleasedAt, h.Status.ReleasedBy, h.Status.ReleaseReason = nil, "", ""
		delete(h.Metadata.Annotations, AnnotationReleasedWith)
		return true, nil
	})
	return err
}
