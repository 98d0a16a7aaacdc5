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
		if r == nil || r.Env == nil || r.Env.BootEnv == "" || r.Env.BootEnv == s.Status.BootEnv && r.Env.OS == s.Status.OS {
			continue
		}
		own := store.Copy(c.cfg.Store.Objects, s)
		own.Status.BootEnv, own.Status.OS = r.Env.BootEnv, r.Env.OS
		if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
			errs = append(errs, err)
			continue
		}
		c.cfg.Crash.At("hub.bootenv.inforce")
		c.cfg.Events.Own(ctx, s.Metadata.Name, resource.EventBootEnv, fmt.Sprintf("%s is in force, operating system %s", r.Env.BootEnv, r.Env.OS))
	}
	return errors.Join(errs...)
}

// released forgets what a server had of an environment when nobody has the server any more:
// its next owner's system is another one.
func (c *Room) released(ctx context.Context, f plan.Fleet, s *resource.Server) error {
	name := s.Metadata.Name
	if s.Status.BootEnv == "" && s.Status.OS == "" || f.ClaimOf(name) != nil || f.MaintenanceOf(name) != nil || f.DiscoveryOf(name) != nil {
		return nil
	}
	if r := f.Reports[name]; r != nil && r.Env != nil {
		return nil // the agent has not heard of it yet
	}
	own := store.Copy(c.cfg.Store.Objects, s)
	own.Status.BootEnv, own.Status.OS = "", ""
	return c.cfg.Store.Objects.Put(ctx, own)
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
