package view

import (
	"rackboot/hub/grants"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Around is as much of the fleet as concerns one server, so that printing a server
// costs the same however many there are. Its resources are the store's own, and not to be changed.
func (r *Reader) Around(s *resource.Server) plan.Fleet {
	f := plan.Fleet{Now: r.cfg.Clock(), Servers: []*resource.Server{s}, Made: plan.Made{Freezes: store.List[*resource.Freeze](r.cfg.Store.Objects)}}
	if b, err := store.Peek[*resource.BMC](r.cfg.Store.Objects, s.Spec.BMCRef.Name); err == nil {
		f.BMCs = []*resource.BMC{b}
		if r, err := store.Peek[*resource.Rack](r.cfg.Store.Objects, b.Spec.RackRef.Name); err == nil {
			f.Racks = []*resource.Rack{r}
		}
	}
	if cl := r.cfg.Store.Claims.Of(s.Metadata.Name); cl != nil {
		f.Claims = []*resource.Claim{cl}
		if b, err := store.Peek[*resource.BootConfiguration](r.cfg.Store.Objects, cl.Metadata.Name); err == nil {
			f.Configs = []*resource.BootConfiguration{b}
		}
	}
	if b, err := store.Peek[*resource.BootConfiguration](r.cfg.Store.Objects, plan.DiscoveryName(s)); err == nil {
		f.Configs = append(f.Configs, b)
	}
	if m := r.cfg.Store.Maintenances.Of(s.Metadata.Name); m != nil {
		f.Maintenances = []*resource.Maintenance{m}
		if b, err := store.Peek[*resource.BootConfiguration](r.cfg.Store.Objects, grants.MaintenanceName(m.Metadata.UID)); err == nil {
			f.Configs = append(f.Configs, b)
		}
	}
	return f
}
