package control

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// followDeltas wakes the units that what is written concerns, until ctx ends.
func (u *units) followDeltas(ctx context.Context, deltas *store.Deltas) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-deltas.Ready():
		}
		u.wakeBy(deltas)
	}
}

func (u *units) wakeBy(deltas *store.Deltas) {
	list, lost := deltas.Take()
	if lost {
		u.sweep.Store(true)
		u.wakeAll()
	}
	for _, d := range list {
		if d.Beside != "" {
			u.wakeBeside(d)
			continue
		}
		for _, o := range []protocol.Object{d.Old, d.Now} {
			if o != nil {
				u.wakeFor(o)
			}
		}
		if d.Now == nil {
			u.sweep.Store(true) // what belonged to it may go
			u.wakeSite()
		}
		if g, is := d.Now.(*protocol.ServerGroup); is {
			u.wakeTakers(d.Old, g)
		}
	}
}

// wakeFor wakes the units that decide by a resource: as it was, and as it is. A wake too many
// costs a turn, one too few waits for the next sweep.
func (u *units) wakeFor(o protocol.Object) {
	switch o := o.(type) {
	case *protocol.Rack:
		u.wakeRack(o.Metadata.Name)
		u.wakeSiteForServers()
	case *protocol.Agent:
		u.wakeRack(o.Spec.RackRef.Name)
		u.wakeAgent(o.Metadata.Name)
	case *protocol.Segment:
		u.wakeRack(o.Spec.RackRef.Name)
		u.wakeSiteForServers()
	case *protocol.BMC:
		u.wakeRack(o.Spec.RackRef.Name)
		u.wakeSiteForServers()
	case *protocol.Server:
		u.wakeBMC(o.Spec.BMCRef.Name)
		if o.Status.Firmware != nil {
			u.wakeSite() // which ends the mark
		}
		u.wakeSiteForServers()
	case *protocol.Claim:
		u.wakeServerOf(o.Status.Server)
		if o.Status.Server == "" || o.Spec.ImageFrom != nil {
			u.wakeSite()
		}
		u.wakeSiteForServers()
	case *protocol.Maintenance:
		u.wakeServerOf(o.Spec.ServerRef.Name)
		u.wakeSiteForServers()
	case *protocol.BootConfiguration:
		u.wakeServerOf(o.Spec.Server)
		u.wakeSiteForServers()
	case *protocol.Hold:
		if o.Status.Rack != "" {
			u.wakeRack(o.Status.Rack)
		}
		u.wakeServerOf(o.Spec.Server)
		u.wakeSiteForServers()
	case *protocol.Secret:
		u.wakeSecret(o)
	case *protocol.ServerGroup, *protocol.ManagedBootImages:
		u.wakeSite()
	case *protocol.GroupRevision, *protocol.BootImage, *protocol.BootEnv, *protocol.Template, *protocol.Profile, *protocol.Param:
		u.wakeAll()
	}
}

// wakeTakers wakes the racks that a group's change is about: those whose servers take its image
// where only its status is another one, and all where its selector, its params or its image may be.
func (u *units) wakeTakers(old protocol.Object, g *protocol.ServerGroup) {
	was, _ := old.(*protocol.ServerGroup)
	if was == nil || was.Metadata.Generation != g.Metadata.Generation || was.Status.Revision != g.Status.Revision {
		u.wakeAll()
		return
	}
	for _, cl := range store.Find(u.store, store.ClaimsByGroup, g.Metadata.Name) {
		u.wakeServerOf(cl.Status.Server)
	}
	for _, b := range store.Find(u.store, store.ConfigsByGroup, g.Metadata.Name) {
		u.wakeServerOf(b.Spec.Server)
	}
}

// wakeSecret wakes the racks whose BMCs a Secret is for; what else may be secret is anybody's.
func (u *units) wakeSecret(s *protocol.Secret) {
	if s.Spec.Type != protocol.SecretBMC {
		u.wakeAll()
		return
	}
	for _, b := range store.Referring[*protocol.BMC](u.store, protocol.KindSecret, s.Metadata.Name) {
		u.wakeRack(b.Spec.RackRef.Name)
	}
	if r := s.Status.Rotation; r != nil {
		u.wakeBMC(r.BMC)
	}
}

// wakeBeside wakes the units that decide by what is kept beside the resources.
func (u *units) wakeBeside(d store.Delta) {
	switch d.Beside {
	case store.BesideRequest:
		if q, err := u.store.GetRequest(d.Name); err == nil {
			u.wakeRack(q.Rack)
		}
		if u.grouped.Load() {
			u.wakeSite()
		}
	case store.BesideApproval:
		if r, err := u.store.GetApproval(d.Name); err == nil {
			u.wakeRack(r.Rack)
		}
		u.wakeSite()
	case store.BesideLedger:
		u.wakeAgent(d.Name)
	case store.BesideInventory, store.BesideSealed:
		u.wakeBMC(d.Name)
	case store.BesideIgnition, store.BesideFormer, store.BesideEnv:
		if b, err := store.Peek[*protocol.BootConfiguration](u.store, d.Name); err == nil {
			u.wakeServerOf(b.Spec.Server)
		}
	case store.BesideISO:
		u.wakeAll()
	}
}

func (u *units) wakeBMC(bmc string) {
	if b, err := store.Peek[*protocol.BMC](u.store, bmc); err == nil {
		u.wakeRack(b.Spec.RackRef.Name)
	}
}

// wakeServerOf is wakeServer for what may have none.
func (u *units) wakeServerOf(server string) {
	if server != "" {
		u.wakeServer(server)
	}
}

// wakeSiteForServers wakes the site where what becomes of servers is news for it: claims wait
// for one, or groups count them.
func (u *units) wakeSiteForServers() {
	if u.unbound.Load() || u.grouped.Load() {
		u.wakeSite()
	}
}
