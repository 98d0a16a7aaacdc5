package maintenance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Turn moves every maintenance along: looks up its image, gives it the server
// when it is its turn, and lets it go when the server was proved Off.
func (r *Room) Turn(ctx context.Context, f plan.Fleet) error {
	conds := map[string][]resource.ConditionState{}
	for _, m := range f.Maintenances {
		conds[m.Metadata.Name] = plan.Maintained(f, m, r.cfg.Env.IgnitionOf(m.Spec.Boot.IgnitionSecretRef))
	}
	r.conds.Keep(f.Of, conds, r.cfg.Clock())
	if len(f.Maintenances) == 0 {
		return nil
	}
	images := map[string]plan.BootSeen{}
	for _, m := range f.Maintenances {
		images[m.Metadata.Name] = r.boot(f, m)
	}
	words := plan.Maintain(f, images)
	var errs []error
	for _, m := range f.Maintenances {
		errs = append(errs, r.move(ctx, f, m, words[m.Metadata.Name], images[m.Metadata.Name]))
	}
	return errors.Join(errs...)
}

// boot is what is known of the image and the user data of a maintenance.
func (r *Room) boot(f plan.Fleet, m *resource.Maintenance) plan.BootSeen {
	if m.Spec.ServerPower == resource.WantOff {
		return plan.BootSeen{State: plan.ImageReady}
	}
	if len(m.Spec.Firmware) > 0 {
		if r.cfg.Approvals.FirmwareWaitsAt(f, m) {
			return plan.BootSeen{State: plan.ImageFailing, Message: "it writes firmware settings of server " + m.Spec.ServerRef.Name + ", and waits for an approval: rackctl approve list"}
		}
		return plan.BootSeen{State: plan.ImageReady}
	}
	srv, err := store.Peek[*resource.Server](r.cfg.Objects, m.Spec.ServerRef.Name)
	if err != nil {
		return plan.BootSeen{State: plan.ImageFailing, Message: err.Error()}
	}
	b := m.Spec.Boot
	if cond := r.cfg.Inventory.Carried(srv, b.BootPolicy); cond != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	}
	if r.cfg.Approvals.WipeWaitsAt(f, m) {
		return plan.BootSeen{State: plan.ImageFailing, Message: "it discards the disks of server " + m.Spec.ServerRef.Name + ", and waits for an approval: rackctl approve list"}
	}
	var seen plan.BootSeen
	if b.ImageFrom != nil {
		if seen = r.cfg.Revisions.SeenBoot(b.ImageFrom, srv, b.BootPolicy, b.KernelArgs); seen.State != plan.ImageReady || b.IgnitionSecretRef == nil {
			return seen
		}
	} else if b.BootEnv != nil {
		seen = r.cfg.Env.Seen(f, srv, b.BootEnv.Name, plan.EnvFor{
			Purpose: resource.PurposeMaintenance, Owner: m.Metadata.Name, Ignition: b.IgnitionSecretRef != nil,
			KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, b.KernelArgs),
		}, m.Metadata.UID)
	} else {
		seen = r.cfg.Images.Seen(f.Of, images.Question{Asker: m.Metadata.UID, Reference: b.Image, Architecture: srv.Architecture(), Method: b.BootPolicy.FirstBoot.Target()}, srv.Spec.KernelArgs, b.KernelArgs)
	}
	if seen.State != plan.ImageReady {
		return seen
	}
	data, cond := r.cfg.Env.UserData(b.IgnitionSecretRef)
	if cond != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	}
	seen.Ignition = data
	return seen
}

func (r *Room) move(ctx context.Context, f plan.Fleet, m *resource.Maintenance, w plan.MaintenanceWord, seen plan.BootSeen) error {
	uid, server := m.Metadata.UID, m.Spec.ServerRef.Name
	if ended, err := r.settle(ctx, f, m); err != nil || ended {
		return err
	}
	cfg, err := store.Get[*resource.BootConfiguration](r.cfg.Objects, grants.MaintenanceName(uid))
	if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
		return err
	}
	if err != nil {
		cfg = nil
	}
	if m.Metadata.DeletedAt != nil {
		return r.end(ctx, f, m, cfg)
	}
	if cfg == nil && w.State == resource.MaintenanceActive {
		w.Message = seen.Message // what it boots is not to be had any more, or not known since a start
	}
	if cfg != nil {
		data, err := r.cfg.Env.SealIgnition(ctx, f, cfg)
		if err != nil {
			return err
		}
		env, err := r.cfg.Env.Seal(ctx, f, cfg)
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
		own := store.Copy(r.cfg.Objects, m)
		own.Status.State, own.Status.Message, own.Status.Position = w.State, w.Message, w.Position
		if err := r.cfg.Objects.Put(ctx, own); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.maintenance.moved")
		if was.State != w.State {
			r.cfg.Events.OwnOf(ctx, resource.TargetOf(m), server, resource.EventMaintenance, strings.TrimSpace(fmt.Sprintf("%s is %s: %s", m.Metadata.Name, w.State, w.Message)))
		}
	}
	switch {
	case cfg != nil:
		return r.cfg.Grants.Renew(ctx, cfg)
	case w.State != resource.MaintenanceActive || seen.Image == nil:
		return nil
	}
	srv, err := store.Peek[*resource.Server](r.cfg.Objects, server)
	if err != nil {
		return err
	}
	group, revision := revisions.OfRevision(seen)
	return r.cfg.Grants.Make(ctx, grants.Wanted{
		Group: group, Revision: revision,
		Name: grants.MaintenanceName(uid), Owner: m.Metadata.Name, UID: uid, Purpose: resource.PurposeMaintenance, Policy: m.Spec.Boot.BootPolicy,
		Ignition: seen.Ignition, KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, m.Spec.Boot.KernelArgs),
	}, srv, *seen.Image)
}

// end removes a maintenance whose server was proved Off, its configuration
// first. The server is its claim's again then, or nobody's.
func (r *Room) end(ctx context.Context, f plan.Fleet, m *resource.Maintenance, cfg *resource.BootConfiguration) error {
	server := m.Spec.ServerRef.Name
	said := f.Reports[server]
	if said == nil || !said.Released || said.OwnerUID != m.Metadata.UID {
		return nil
	}
	if cfg != nil {
		if err := r.cfg.Objects.Remove(ctx, cfg); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.maintenance.unconfigured")
	}
	r.cfg.Images.ForgetOf(m.Metadata.UID)
	if err := r.cfg.Objects.Remove(ctx, m); err != nil {
		return err
	}
	to := "Available"
	if f.ClaimOf(server) != nil {
		to = "Reserved"
	}
	r.cfg.Events.OwnOf(ctx, resource.TargetOf(m), server, resource.EventMaintenance, m.Metadata.Name+" has ended; the server is "+to)
	return nil
}
