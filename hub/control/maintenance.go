package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/groups"
	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maintenances moves every maintenance along: looks up its image, gives it the server
// when it is its turn, and lets it go when the server was proved Off.
func (c *Control) maintenances(ctx context.Context, f plan.Fleet) error {
	if len(f.Maintenances) == 0 {
		return nil
	}
	images := map[string]plan.BootSeen{}
	for _, m := range f.Maintenances {
		images[m.Metadata.Name] = c.maintenanceBoot(f, m)
	}
	words := plan.Maintain(f, images)
	var errs []error
	for _, m := range f.Maintenances {
		errs = append(errs, c.maintenance(ctx, f, m, words[m.Metadata.Name], images[m.Metadata.Name]))
	}
	return errors.Join(errs...)
}

// forgetImages ends the questions of owners that are no more: a maintenance that has not
// begun is deleted at once.
func (c *Control) forgetImages() {
	there := map[string]bool{}
	for _, cl := range store.List[*resource.Claim](c.cfg.Store) {
		there[cl.Metadata.UID] = true
	}
	for _, m := range store.List[*resource.Maintenance](c.cfg.Store) {
		there[m.Metadata.UID] = true
	}
	for _, r := range store.List[*resource.Rack](c.cfg.Store) {
		if r.Spec.Discovery != nil {
			discoveryAskers(r, c.rackFleet(r.Metadata.Name), there)
		}
	}
	c.images.Forget(func(asker string) bool {
		return !there[asker] && !strings.HasPrefix(asker, images.EnvAskers) && !strings.HasPrefix(asker, groups.Askers)
	})
}

// maintenanceBoot is what is known of the image and the user data of a maintenance.
func (c *Control) maintenanceBoot(f plan.Fleet, m *resource.Maintenance) plan.BootSeen {
	if m.Spec.ServerPower == resource.WantOff {
		return plan.BootSeen{State: plan.ImageReady}
	}
	srv, err := store.Peek[*resource.Server](c.cfg.Store, m.Spec.ServerRef.Name)
	if err != nil {
		return plan.BootSeen{State: plan.ImageFailing, Message: err.Error()}
	}
	b := m.Spec.Boot
	if cond := c.Inventory.Carried(srv, b.BootPolicy); cond != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	}
	if c.Approvals.WipeWaitsAt(f, m) {
		return plan.BootSeen{State: plan.ImageFailing, Message: "it discards the disks of server " + m.Spec.ServerRef.Name + ", and waits for an approval: rackctl approve list"}
	}
	var seen plan.BootSeen
	if b.ImageFrom != nil {
		if seen = c.Groups.SeenBoot(b.ImageFrom, srv, b.BootPolicy, b.KernelArgs); seen.State != plan.ImageReady || b.IgnitionSecretRef == nil {
			return seen
		}
	} else if b.BootEnv != nil {
		seen = c.seenEnv(f, srv, b.BootEnv.Name, plan.EnvFor{
			Purpose: resource.PurposeMaintenance, Owner: m.Metadata.Name, Ignition: b.IgnitionSecretRef != nil,
			KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, b.KernelArgs),
		}, m.Metadata.UID)
	} else {
		seen = c.seen(f.Of, images.Question{Asker: m.Metadata.UID, Reference: b.Image, Architecture: srv.Spec.Architecture, Method: b.BootPolicy.FirstBoot.Target()}, srv.Spec.KernelArgs, b.KernelArgs)
	}
	if seen.State != plan.ImageReady {
		return seen
	}
	data, cond := c.Env.UserData(b.IgnitionSecretRef)
	if cond != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	}
	seen.Ignition = data
	return seen
}

// seen is what is known of an image, with the kernel arguments of server and owner.
func (c *Control) seen(unit string, q images.Question, server, owner string) plan.BootSeen {
	img, cond := c.images.Image(unit, q)
	switch {
	case cond != nil && (cond.Code == resource.CondRegistryUnavailable || cond.Code == resource.CondImageUnverified):
		return plan.BootSeen{State: plan.ImageFailing, Code: cond.Code, Message: cond.Message}
	case cond != nil:
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	case img == nil:
		return plan.BootSeen{State: plan.ImageAsked}
	}
	full, err := plan.WithArguments(*img, server, owner)
	if err != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: resource.CondImageInvalid, Message: err.Error()}
	}
	return plan.BootSeen{State: plan.ImageReady, Image: &full}
}

// seenEnv is what is known of a boot environment.
func (c *Control) seenEnv(f plan.Fleet, srv *resource.Server, name string, w plan.EnvFor, key string) plan.BootSeen {
	img, cond := c.Env.See(f, srv, name, w, key)
	switch {
	case cond != nil:
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	case img == nil:
		return plan.BootSeen{State: plan.ImageAsked}
	}
	return plan.BootSeen{State: plan.ImageReady, Image: img}
}

func (c *Control) maintenance(ctx context.Context, f plan.Fleet, m *resource.Maintenance, w plan.MaintenanceWord, seen plan.BootSeen) error {
	uid, server := m.Metadata.UID, m.Spec.ServerRef.Name
	cfg, err := store.Get[*resource.BootConfiguration](c.cfg.Store, grants.MaintenanceName(uid))
	if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
		return err
	}
	if err != nil {
		cfg = nil
	}
	if m.Metadata.DeletedAt != nil {
		return c.endMaintenance(ctx, f, m, cfg)
	}
	if cfg == nil && w.State == resource.MaintenanceActive {
		w.Message = seen.Message // what it boots is not to be had any more, or not known since a start
	}
	if cfg != nil {
		data, err := c.Env.SealIgnition(ctx, f, cfg)
		if err != nil {
			return err
		}
		env, err := c.Env.Seal(ctx, f, cfg)
		if err != nil {
			return err
		}
		for _, cond := range []*resource.ConditionState{data, env} {
			if cond != nil && w.State == resource.MaintenanceActive {
				w.Message = string(cond.Code) + ": " + cond.Message
			}
		}
	}
	if was := m.Status; was.State != w.State || was.Message != w.Message || was.Position != w.Position {
		own := store.Copy(c.cfg.Store, m)
		own.Status.State, own.Status.Message, own.Status.Position = w.State, w.Message, w.Position
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.maintenance.moved")
		if was.State != w.State {
			c.Events.OwnOf(ctx, resource.TargetOf(m), server, resource.EventMaintenance, strings.TrimSpace(fmt.Sprintf("%s is %s: %s", m.Metadata.Name, w.State, w.Message)))
		}
	}
	switch {
	case cfg != nil:
		return c.grants.Renew(ctx, cfg)
	case w.State != resource.MaintenanceActive || seen.Image == nil:
		return nil
	}
	srv, err := store.Peek[*resource.Server](c.cfg.Store, server)
	if err != nil {
		return err
	}
	group, revision := groups.OfRevision(seen)
	return c.grants.Make(ctx, grants.Wanted{
		Group: group, Revision: revision,
		Name: grants.MaintenanceName(uid), Owner: m.Metadata.Name, UID: uid, Purpose: resource.PurposeMaintenance, Policy: m.Spec.Boot.BootPolicy,
		Ignition: seen.Ignition, KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, m.Spec.Boot.KernelArgs),
	}, srv, *seen.Image)
}

// endMaintenance removes a maintenance whose server was proved Off, its configuration
// first. The server is its claim's again then, or nobody's.
func (c *Control) endMaintenance(ctx context.Context, f plan.Fleet, m *resource.Maintenance, cfg *resource.BootConfiguration) error {
	server := m.Spec.ServerRef.Name
	r := f.Reports[server]
	if r == nil || !r.Released || r.OwnerUID != m.Metadata.UID {
		return nil
	}
	if cfg != nil {
		if err := c.cfg.Store.Remove(ctx, cfg); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.maintenance.unconfigured")
	}
	c.images.ForgetOf(m.Metadata.UID)
	if err := c.cfg.Store.Remove(ctx, m); err != nil {
		return err
	}
	to := "Available"
	if f.ClaimOf(server) != nil {
		to = "Reserved"
	}
	c.Events.OwnOf(ctx, resource.TargetOf(m), server, resource.EventMaintenance, m.Metadata.Name+" has ended; the server is "+to)
	return nil
}

// bookName is a maintenance in the book of conditions, where claims are by their names.
func bookName(m *resource.Maintenance) string {
	return events.Target(resource.KindMaintenance, m.Metadata.Name)
}

func (c *Control) decorateMaintenance(m *resource.Maintenance) {
	m.Status.ObservedGeneration = m.Metadata.Generation
	if m.Status.State != resource.MaintenanceActive {
		return
	}
	if s, err := store.Get[*resource.Server](c.cfg.Store, m.Spec.ServerRef.Name); err == nil {
		c.decorateServer(s)
		m.Status.Conditions = s.Status.Conditions
	}
	m.Status.Conditions = append(c.conds.Of(bookName(m)), m.Status.Conditions...)
}
