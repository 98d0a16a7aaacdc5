package control

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// followDeltas wakes the units that what is written concerns, until ctx ends.
func (c *Control) followDeltas(ctx context.Context, deltas *store.Deltas) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-deltas.Ready():
		}
		c.wakeBy(deltas)
	}
}

func (c *Control) wakeBy(deltas *store.Deltas) {
	list, lost := deltas.Take()
	if lost {
		c.units.sweep.Store(true)
		c.wakeAll()
	}
	for _, d := range list {
		if d.Beside != "" {
			c.wakeBeside(d)
			continue
		}
		for _, o := range []protocol.Object{d.Old, d.Now} {
			if o != nil {
				c.wakeFor(o)
			}
		}
		if d.Now == nil {
			c.units.sweep.Store(true) // what belonged to it may go
			c.wakeSite()
		}
		if g, is := d.Now.(*protocol.ServerGroup); is {
			c.wakeTakers(d.Old, g)
		}
	}
}

// wakeFor wakes the units that decide by a resource: as it was, and as it is. A wake too many
// costs a turn, one too few waits for the next sweep.
func (c *Control) wakeFor(o protocol.Object) {
	switch o := o.(type) {
	case *protocol.Rack:
		c.wakeRack(o.Metadata.Name)
		c.wakeSiteForServers()
	case *protocol.Agent:
		c.wakeRack(o.Spec.RackRef.Name)
		c.wakeAgent(o.Metadata.Name)
	case *protocol.Segment:
		c.wakeRack(o.Spec.RackRef.Name)
		c.wakeSiteForServers()
	case *protocol.BMC:
		c.wakeRack(o.Spec.RackRef.Name)
		c.wakeSiteForServers()
	case *protocol.Server:
		c.wakeBMC(o.Spec.BMCRef.Name)
		if o.Status.Firmware != nil {
			c.wakeSite() // which ends the mark
		}
		c.wakeSiteForServers()
	case *protocol.Claim:
		c.wakeServerOf(o.Status.Server)
		if o.Status.Server == "" || o.Spec.ImageFrom != nil {
			c.wakeSite()
		}
		c.wakeSiteForServers()
	case *protocol.Maintenance:
		c.wakeServerOf(o.Spec.ServerRef.Name)
		c.wakeSiteForServers()
	case *protocol.BootConfiguration:
		c.wakeServerOf(o.Spec.Server)
		c.wakeSiteForServers()
	case *protocol.Hold:
		if o.Status.Rack != "" {
			c.wakeRack(o.Status.Rack)
		}
		c.wakeServerOf(o.Spec.Server)
		c.wakeSiteForServers()
	case *protocol.Secret:
		c.wakeSecret(o)
	case *protocol.ServerGroup, *protocol.ManagedBootImages:
		c.wakeSite()
	case *protocol.GroupRevision, *protocol.BootImage, *protocol.BootEnv, *protocol.Template, *protocol.Profile, *protocol.Param:
		c.wakeAll()
	}
}

// wakeTakers wakes the racks that a group's change is about: those whose servers take its image
// where only its status is another one, and all where its selector, its params or its image may be.
func (c *Control) wakeTakers(old protocol.Object, g *protocol.ServerGroup) {
	was, _ := old.(*protocol.ServerGroup)
	if was == nil || was.Metadata.Generation != g.Metadata.Generation || was.Status.Revision != g.Status.Revision {
		c.wakeAll()
		return
	}
	for _, cl := range store.Find(c.cfg.Store, store.ClaimsByGroup, g.Metadata.Name) {
		c.wakeServerOf(cl.Status.Server)
	}
	for _, b := range store.Find(c.cfg.Store, store.ConfigsByGroup, g.Metadata.Name) {
		c.wakeServerOf(b.Spec.Server)
	}
}

// wakeSecret wakes the racks whose BMCs a Secret is for; what else may be secret is anybody's.
func (c *Control) wakeSecret(s *protocol.Secret) {
	if s.Spec.Type != protocol.SecretBMC {
		c.wakeAll()
		return
	}
	for _, b := range store.Referring[*protocol.BMC](c.cfg.Store, protocol.KindSecret, s.Metadata.Name) {
		c.wakeRack(b.Spec.RackRef.Name)
	}
	if r := s.Status.Rotation; r != nil {
		c.wakeBMC(r.BMC)
	}
}

// wakeBeside wakes the units that decide by what is kept beside the resources.
func (c *Control) wakeBeside(d store.Delta) {
	switch d.Beside {
	case store.BesideRequest:
		if q, err := c.cfg.Store.GetRequest(d.Name); err == nil {
			c.wakeRack(q.Rack)
		}
		if c.units.grouped.Load() {
			c.wakeSite()
		}
	case store.BesideApproval:
		if r, err := c.cfg.Store.GetApproval(d.Name); err == nil {
			c.wakeRack(r.Rack)
		}
		c.wakeSite()
	case store.BesideLedger:
		c.wakeAgent(d.Name)
	case store.BesideInventory, store.BesideSealed:
		c.wakeBMC(d.Name)
	case store.BesideIgnition, store.BesideFormer, store.BesideEnv:
		if b, err := store.Peek[*protocol.BootConfiguration](c.cfg.Store, d.Name); err == nil {
			c.wakeServerOf(b.Spec.Server)
		}
	case store.BesideISO:
		c.wakeAll()
	}
}

func (c *Control) wakeBMC(bmc string) {
	if b, err := store.Peek[*protocol.BMC](c.cfg.Store, bmc); err == nil {
		c.wakeRack(b.Spec.RackRef.Name)
	}
}

// wakeServerOf is wakeServer for what may have none.
func (c *Control) wakeServerOf(server string) {
	if server != "" {
		c.wakeServer(server)
	}
}

// wakeSiteForServers wakes the site where what becomes of servers is news for it: claims wait
// for one, or groups count them.
func (c *Control) wakeSiteForServers() {
	if c.units.unbound.Load() || c.units.grouped.Load() {
		c.wakeSite()
	}
}
