package api

import (
	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// wipes judges a maintenance that newly names an environment which discards disks: it
// takes a right of its own, at the maintenance's server. What the description of an
// environment calls itself is the word of whoever may write it.
func wipes(objects *store.Objects, who access.Caller, old, next resource.Object, set []resource.Object, t access.Target) error {
	m, ok := next.(*resource.Maintenance)
	if !ok || m.Spec.Boot.BootEnv == nil || m.Spec.ServerPower == resource.WantOff {
		return nil
	}
	name := m.Spec.Boot.BootEnv.Name
	if was, ok := old.(*resource.Maintenance); ok && was != nil && was.Spec.Boot.BootEnv != nil && was.Spec.Boot.BootEnv.Name == name && was.Spec.ServerPower == m.Spec.ServerPower {
		return nil
	}
	env, _ := store.Peek[*resource.BootEnv](objects, name) // one that is not there is refused as such
	for _, o := range set {
		if e, ok := o.(*resource.BootEnv); ok && e.Metadata.Name == name {
			env = e
		}
	}
	if env == nil || !env.Spec.Destructive {
		return nil
	}
	if v := access.May(who, access.Wipe, t); v != access.Allowed {
		return route.Denied(who, access.Wipe, v, "Maintenance "+m.Metadata.Name+", which discards disks,")
	}
	return nil
}
