package maintenance

import (
	"bytes"
	"context"
	"encoding/json"

	"rackboot/hub/inventory"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// settle keeps what was reported of the writing of firmware settings, at the server: what was before outlives the
// maintenance. Once nothing more is written, the maintenance is told to end, and ended says so.
func (r *Room) settle(ctx context.Context, f plan.Fleet, m *resource.Maintenance) (ended bool, err error) {
	server := m.Spec.ServerRef.Name
	said := f.Reports[server]
	if len(m.Spec.Firmware) == 0 || m.Status.State != resource.MaintenanceActive || said == nil || said.Firmware == nil || said.Firmware.OwnerUID != m.Metadata.UID {
		return false, nil
	}
	run := said.Firmware
	srv, err := store.Get[*resource.Server](r.cfg.Objects, server)
	if err != nil {
		return false, err
	}
	if !sameRun(srv.Status.Settings, run) {
		srv.Status.Settings = run
		if err := r.cfg.Objects.Put(ctx, srv); err != nil {
			return false, err
		}
		r.cfg.Crash.At("hub.maintenance.settings")
	}
	if !run.Stage.Over() || m.Metadata.DeletedAt != nil {
		return false, nil
	}
	inventory.ReadAgain(r.cfg.Inventory, server)
	own, now := store.Copy(r.cfg.Objects, m), r.cfg.Clock().UTC()
	own.Metadata.DeletedAt = &now
	if err := r.cfg.Objects.Put(ctx, own); err != nil {
		return false, err
	}
	r.cfg.Crash.At("hub.maintenance.settled")
	r.cfg.Events.OwnOf(ctx, resource.TargetOf(m), server, resource.EventMaintenance, m.Metadata.Name+" ends: its firmware settings are "+string(run.Stage))
	return true, nil
}

// sameRun compares runs as they are stored: one came from a message, the other from the store.
func sameRun(a, b *resource.FirmwareRun) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}
