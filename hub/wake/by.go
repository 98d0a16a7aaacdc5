package wake

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Follow wakes the units that what is written concerns, until ctx ends.
func (u *Units) Follow(ctx context.Context, deltas *store.Deltas) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-deltas.Ready():
		}
		u.By(deltas)
	}
}

// By wakes the units that what was written since the last call concerns.
func (u *Units) By(deltas *store.Deltas) {
	list, lost := deltas.Take()
	if lost {
		u.Sweeping.Store(true)
		u.All()
	}
	for _, d := range list {
		if d.Beside != "" {
			u.wakeBeside(d)
			continue
		}
		for _, o := range []resource.Object{d.Old, d.Now} {
			if o != nil {
				u.wakeFor(o)
			}
		}
		if _, hold := d.Old.(*resource.Hold); d.Now == nil && !hold {
			u.Sweeping.Store(true) // what belonged to it may go
			u.Site()
		}
		if g, is := d.Now.(*resource.ServerGroup); is {
			u.wakeTakers(d.Old, g)
		} else if _, was := d.Old.(*resource.ServerGroup); was {
			u.All() // servers of any rack had its params and choices
		}
	}
}

// wakeFor wakes the units that decide by a resource: as it was, and as it is. A wake too many
// costs a turn, one too few waits for the next sweep.
func (u *Units) wakeFor(o resource.Object) {
	switch o := o.(type) {
	case *resource.Rack:
		u.Rack(o.Metadata.Name)
		u.SiteForServers()
	case *resource.Agent:
		u.Rack(o.Spec.RackRef.Name)
		u.Agent(o.Metadata.Name)
	case *resource.Segment:
		u.Rack(o.Spec.RackRef.Name)
		u.SiteForServers()
	case *resource.BMC:
		u.Rack(o.Spec.RackRef.Name)
		u.SiteForServers()
	case *resource.Server:
		u.BMC(o.Spec.BMCRef.Name)
		if o.Status.Firmware != nil {
			u.Site() // which ends the mark
			if b, err := store.Peek[*resource.BMC](u.objects, o.Spec.BMCRef.Name); err == nil {
				u.Rack(b.Spec.RackRef.Name) // a hold may wait for it
			}
		}
		u.SiteForServers()
	case *resource.Claim:
		u.wakeServerOf(o.Status.Server)
		if ref := o.Spec.ServerRef; o.Status.Server == "" && ref != nil {
			u.Server(ref.Name) // its rack binds
		} else if o.Status.Server == "" {
			u.Site()
		}
		if o.Spec.ImageFrom != nil {
			u.Site()
		}
		u.SiteForServers()
	case *resource.Maintenance:
		u.wakeServerOf(o.Spec.ServerRef.Name)
		u.SiteForServers()
	case *resource.BootConfiguration:
		u.wakeServerOf(o.Spec.Server)
		u.SiteForServers()
	case *resource.Hold:
		if o.Status.Rack != "" {
			u.Rack(o.Status.Rack)
		}
		u.wakeServerOf(o.Spec.Server)
		u.SiteForServers()
	case *resource.Freeze:
		if r := o.Spec.RackRef; r != nil {
			u.Rack(r.Name)
			u.SiteForServers()
		} else {
			u.All()
		}
	case *resource.Secret:
		u.wakeSecret(o)
	case *resource.ServerGroup, *resource.ManagedBootImages, *resource.AgentUpgrade:
		u.Site()
	case *resource.GroupRevision, *resource.BootImage, *resource.BootEnv, *resource.Template, *resource.Profile, *resource.Param, *resource.FirmwareProfile:
		u.All()
	}
}

// wakeTakers wakes the racks that a group's change is about: those whose servers take its image
// where only its status is another one, and all where its selector, its params or its image may be.
func (u *Units) wakeTakers(old resource.Object, g *resource.ServerGroup) {
	was, _ := old.(*resource.ServerGroup)
	if was == nil || was.Metadata.Generation != g.Metadata.Generation || was.Status.Revision != g.Status.Revision {
		u.All()
		return
	}
	for _, cl := range store.Find(u.objects, store.ClaimsByGroup, g.Metadata.Name) {
		u.wakeServerOf(cl.Status.Server)
	}
	for _, b := range store.Find(u.objects, store.ConfigsByGroup, g.Metadata.Name) {
		u.wakeServerOf(b.Spec.Server)
	}
}

// wakeSecret wakes the racks whose BMCs a Secret is for; what else may be secret is anybody's.
func (u *Units) wakeSecret(s *resource.Secret) {
	if s.Spec.Type != resource.SecretBMC {
		u.All()
		return
	}
	for _, b := range store.Referring[*resource.BMC](u.objects, resource.KindSecret, s.Metadata.Name) {
		u.Rack(b.Spec.RackRef.Name)
	}
	if r := s.Status.Rotation; r != nil {
		u.BMC(r.BMC)
	}
}

// wakeBeside wakes the units that decide by what is kept beside the resources.
func (u *Units) wakeBeside(d store.Delta) {
	switch d.Beside {
	case store.BesideRequest:
		if q, err := u.requests.Get(d.Name); err == nil {
			u.Rack(q.Rack)
		}
		if u.grouped.Load() {
			u.Site()
		}
	case store.BesideApproval:
		if r, err := u.approvals.Get(d.Name); err == nil {
			u.Rack(r.Rack)
		}
		u.Site()
	case store.BesideLedger: // who acknowledges wakes holds
		for _, r := range store.Find(u.objects, store.RacksByAgent, d.Name) {
			u.Turn(r.Metadata.Name)
		}
	case store.BesideInventory, store.BesideSealed:
		u.BMC(d.Name)
	case store.BesideIgnition, store.BesideFormer, store.BesideEnv:
		if b, err := store.Peek[*resource.BootConfiguration](u.objects, d.Name); err == nil {
			u.wakeServerOf(b.Spec.Server)
		}
	case store.BesideISO:
		u.All()
	}
}

// BMC has the rack of a BMC take its turn.
func (u *Units) BMC(bmc string) {
	if b, err := store.Peek[*resource.BMC](u.objects, bmc); err == nil {
		u.Turn(b.Spec.RackRef.Name)
	}
}

// wakeServerOf is Server for what may have none.
func (u *Units) wakeServerOf(server string) {
	if server != "" {
		u.Server(server)
	}
}

// SiteForServers wakes the site where what becomes of servers is news for it: claims wait
// for one, or groups count them.
func (u *Units) SiteForServers() {
	if u.unbound.Load() || u.grouped.Load() {
		u.Site()
	}
}
