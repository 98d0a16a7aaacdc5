package api

import (
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol/resource"
)

// settles judges a maintenance that newly wants firmware settings written: it takes the right of firmware work, at
// the maintenance's server.
func settles(who access.Caller, old, next resource.Object, t access.Target) error {
	m, ok := next.(*resource.Maintenance)
	if !ok || len(m.Spec.Firmware) == 0 {
		return nil
	}
	if was, ok := old.(*resource.Maintenance); ok && was != nil && slices.EqualFunc(was.Spec.Firmware, m.Spec.Firmware, sameSetting) {
		return nil
	}
	if v := access.May(who, access.Firmware, t); v != access.Allowed {
		return route.Denied(who, access.Firmware, v, "Maintenance "+m.Metadata.Name+", which writes firmware settings,")
	}
	return nil
}

func sameSetting(a, b resource.FirmwareWanted) bool {
	return a.Setting == b.Setting && a.Where == b.Where && a.Value == b.Value && slices.Equal(a.Order, b.Order)
}
