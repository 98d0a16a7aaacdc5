package env

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// InForce stores which boot environment a server has, as its agent says: an environment
// that is refused or being made changes nothing (seed 004: OS.Name is used to set the
// Machine OS field when the Machine is set to a new BootEnv). It is stored, so that a
// system that is installed keeps its name when no files are made for it any more.
func (c *Room) InForce(ctx context.Context, f plan.Fleet) error {
	var errs []error
	for _, s := range f.Servers {
		if err := c.released(ctx, f, s); err != nil {
			errs = append(errs, err)
			continue
		}
		r := f.Reports[s.Metadata.Name]
		if r == nil || r.Env == nil || r.Env.BootEnv == "" || !owns(f, s.Metadata.Name, r.OwnerUID) ||
			r.Env.BootEnv == s.Status.BootEnv && r.Env.OS == s.Status.OS && r.OwnerUID == s.Status.BootEnvOf {
			continue
		}
		own := store.Copy(c.cfg.Store.Objects, s)
		same := r.Env.BootEnv == s.Status.BootEnv && r.Env.OS == s.Status.OS
		own.Status.BootEnv, own.Status.OS, own.Status.BootEnvOf = r.Env.BootEnv, r.Env.OS, r.OwnerUID
		if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
			errs = append(errs, err)
			continue
		}
		c.cfg.Crash.At("hub.bootenv.inforce")
		if same {
			continue // only whose it is was not known
		}
		c.cfg.Events.Own(ctx, s.Metadata.Name, resource.EventBootEnv, fmt.Sprintf("%s is in force, operating system %s", r.Env.BootEnv, r.Env.OS))
	}
	return errors.Join(errs...)
}

// released forgets what a server had of an environment when the owner for whom it was has let it
// go, also where another one has it at once: its system is another one.
func (c *Room) released(ctx context.Context, f plan.Fleet, s *resource.Server) error {
	if s.Status.BootEnv == "" && s.Status.OS == "" || owns(f, s.Metadata.Name, s.Status.BootEnvOf) {
		return nil
	}
	own := store.Copy(c.cfg.Store.Objects, s)
	own.Status.BootEnv, own.Status.OS, own.Status.BootEnvOf = "", "", ""
	return c.cfg.Store.Objects.Put(ctx, own)
}

// owns reports whether an owner has a server, also while another one borrows it or it ends.
func owns(f plan.Fleet, server, uid string) bool {
	if uid == "" {
		return false
	}
	cl, m, d := f.ClaimOf(server), f.MaintenanceOf(server), f.DiscoveryOf(server)
	return cl != nil && cl.Metadata.UID == uid || m != nil && m.Metadata.UID == uid || d != nil && d.Spec.Owner.UID == uid
}

// DecorateServer says what the agent's report of a server's environment means, where the
// agent itself raises no condition.
func DecorateServer(s *resource.Server) {
	r := s.Status.Report
	if r == nil || r.Env == nil {
		return
	}
	add := func(code resource.ConditionCode, message string) {
		if !slices.ContainsFunc(s.Status.Conditions, func(c resource.ConditionState) bool { return c.Code == code }) {
			s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: code, Since: r.Observation.ReadAt, Message: message})
		}
	}
	if r.Env.State == resource.EnvRefused {
		add(resource.CondBootEnvRefused, r.Env.Message)
	}
	if r.Env.Source == resource.EnvFromProxy {
		add(resource.CondRemoteRepo, "the files of "+r.Env.BootEnv)
	}
}

// Decorate says whether an environment can be used at all, and where it is.
func (c *Room) Decorate(e *resource.BootEnv) {
	e.Status = resource.BootEnvStatus{}
	for _, wrong := range c.cfg.Store.Sets.CheckBootEnv(e) {
		e.Status.Errors = append(e.Status.Errors, wrong.Path+": "+wrong.Message)
	}
	e.Status.Valid = len(e.Status.Errors) == 0
	e.Status.Servers = len(store.Find(c.cfg.Store.Objects, store.ConfigsByBootEnv, e.Metadata.Name))
}
