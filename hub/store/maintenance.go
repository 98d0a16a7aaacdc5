package store

import (
	"context"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Maintenances take servers for a while.
type Maintenances struct {
	core    *core
	objects *Objects
}

// Of is the maintenance that has the server, also while it ends; or nil.
func (ms *Maintenances) Of(server string) *resource.Maintenance {
	for _, m := range Referring[*resource.Maintenance](ms.objects, resource.KindServer, server) {
		if m.Status.State == resource.MaintenanceActive {
			return Copy(ms.objects, m)
		}
	}
	return nil
}

// Judge keeps somebody's word on a maintenance that has not begun. The same
// word again changes nothing, and another one replaces it; once the maintenance is
// active it is a conflict. The other codes are invalid, not_found, unavailable and
// timeout.
func (ms *Maintenances) Judge(ctx context.Context, name string, word resource.MaintenanceApproval) (*resource.Maintenance, error) {
	const op = "approve a maintenance"
	if word.Reason = strings.TrimSpace(word.Reason); word.Reason == "" || len(word.Reason) > maxReason {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", maxReason).WithHint("add --reason")
	}
	known := ms.core.alone() // that it was said already is so in the store
	for try := 1; ; try++ {
		m, err := Get[*resource.Maintenance](ms.objects, name)
		if err != nil {
			return nil, err
		}
		switch was := m.Status.Approval; {
		case m.Metadata.DeletedAt != nil, m.Status.State == resource.MaintenanceActive:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "maintenance %s has begun", name).
				WithHint("to end it: rackctl delete maintenance %s", name)
		case was != nil && was.Denied == word.Denied && was.By == word.By && was.Reason == word.Reason && was.Generation == m.Metadata.Generation:
			if known {
				return m, nil
			}
			if known, err = ms.core.knows(ctx, try); err != nil {
				return nil, err
			}
			continue
		}
		word.At, word.Generation = ms.core.clock().UTC(), m.Metadata.Generation
		m.Status.Approval = &word
		err = ms.objects.Put(ctx, m)
		if err == nil {
			return m, nil
		}
		if !ms.core.again(ctx, err, try) {
			return nil, err
		}
	}
}

// delete removes a maintenance, or marks one that has the server.
func (ms *Maintenances) delete(ctx context.Context, name string, guards ...Guard) (resource.Object, error) {
	known := ms.core.alone() // that it goes already is so in the store
	for try := 1; ; try++ {
		m, err := Get[*resource.Maintenance](ms.objects, name)
		if err != nil {
			return nil, err
		}
		if err := guarded(m, guards); err != nil {
			return nil, err
		}
		switch {
		case m.Metadata.DeletedAt != nil:
			if known {
				return m, nil
			}
			if known, err = ms.core.knows(ctx, try); err != nil {
				return nil, err
			}
			continue
		case m.Status.State == resource.MaintenanceActive:
			now := ms.core.clock().UTC()
			m.Metadata.DeletedAt = &now
			err = ms.objects.Put(ctx, m)
		default:
			err = ms.objects.Remove(ctx, m)
		}
		if err == nil {
			ms.core.logger.Info("resource deletion accepted", "kind", resource.KindMaintenance, "name", name)
			return m, nil
		}
		if !ms.core.again(ctx, err, try) {
			return nil, err
		}
	}
}
