package store

import (
	"context"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// JudgeMaintenance keeps somebody's word on a maintenance that has not begun. The same
// word again changes nothing, and another one replaces it; once the maintenance is
// active it is a conflict. The other codes are invalid, not_found, unavailable and
// timeout.
func (s *Store) JudgeMaintenance(ctx context.Context, name string, word resource.MaintenanceApproval) (*resource.Maintenance, error) {
	const op = "approve a maintenance"
	if word.Reason = strings.TrimSpace(word.Reason); word.Reason == "" || len(word.Reason) > maxReason {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", maxReason).WithHint("add --reason")
	}
	for try := 1; ; try++ {
		m, err := Get[*resource.Maintenance](s, name)
		if err != nil {
			return nil, err
		}
		switch was := m.Status.Approval; {
		case m.Metadata.DeletedAt != nil, m.Status.State == resource.MaintenanceActive:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "maintenance %s has begun", name).
				WithHint("to end it: rackctl delete maintenance %s", name)
		case was != nil && was.Denied == word.Denied && was.By == word.By && was.Reason == word.Reason && was.Generation == m.Metadata.Generation:
			return m, nil
		}
		word.At, word.Generation = s.core.clock().UTC(), m.Metadata.Generation
		m.Status.Approval = &word
		err = s.Put(ctx, m)
		if err == nil {
			return m, nil
		}
		if !s.core.again(ctx, err, try) {
			return nil, err
		}
	}
}

// deleteMaintenance removes a maintenance, or marks one that has the server.
func (s *Store) deleteMaintenance(ctx context.Context, name string, guards ...Guard) (resource.Object, error) {
	for try := 1; ; try++ {
		m, err := Get[*resource.Maintenance](s, name)
		if err != nil {
			return nil, err
		}
		if err := guarded(m, guards); err != nil {
			return nil, err
		}
		switch {
		case m.Metadata.DeletedAt != nil:
			return m, nil
		case m.Status.State == resource.MaintenanceActive:
			now := s.core.clock().UTC()
			m.Metadata.DeletedAt = &now
			err = s.Put(ctx, m)
		default:
			err = s.Remove(ctx, m)
		}
		if err == nil {
			s.core.logger.Info("resource deletion accepted", "kind", resource.KindMaintenance, "name", name)
			return m, nil
		}
		if !s.core.again(ctx, err, try) {
			return nil, err
		}
	}
}
