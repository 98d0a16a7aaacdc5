package grants

import (
	"context"
	"fmt"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// MaintenanceName is the name of a maintenance's boot configuration: no claim has it, and no
// maintenance of the same name that comes later.
func MaintenanceName(uid string) string { return "m-" + strings.ToLower(uid) }

// firstBootAttempts is how often a first boot that fetched nothing may be tried.
const firstBootAttempts = 3

// Wanted is whom a boot configuration is made for; name is the configuration's.
type Wanted struct {
	Name, Owner, UID string
	Purpose          resource.Purpose
	Policy           resource.BootPolicy
	Ignition         *resource.IgnitionRef // nil for none
	Attempts         int                   // that the grant is for; 0 is firstBootAttempts
	KernelArgs       string                // the server's and the owner's, which img has
	// Group and revision are what it was taken from; empty is of no group.
	Group    string
	Revision int
	// instead is the configuration that is replaced; nil makes the first.
	instead *resource.BootConfiguration
	// fallback is after how many failed boots its agent returns to instead; 0 is never.
	fallback int
	// Task is that of a roll-out for which instead is replaced, and installed over.
	Task *resource.RolloutTask
}

func (o Wanted) generation() uint64 {
	if o.instead == nil {
		return 1
	}
	return o.instead.Metadata.Generation + 1
}

// seenOver is what goes over from the configuration that is replaced.
func seenOver(o Wanted) *resource.BootSeen {
	var seen resource.BootSeen
	if o.instead != nil && o.instead.Status.Seen != nil {
		seen = *o.instead.Status.Seen
	}
	if o.Task != nil {
		seen.Order = o.Task
	}
	if seen == (resource.BootSeen{}) {
		return nil
	}
	return &seen
}

// ForClaim is for whom a claim's configuration is made, in the place of another if there is
// one.
func (c *Room) ForClaim(cl *resource.Claim, srv *resource.Server, data *resource.IgnitionRef, group string, revision int, instead *resource.BootConfiguration) Wanted {
	return Wanted{
		Name: cl.Metadata.Name, Owner: cl.Metadata.Name, UID: cl.Metadata.UID, Purpose: resource.PurposeClaim,
		Policy: cl.Spec.BootPolicy, Ignition: data, Group: group, Revision: revision,
		KernelArgs: resource.JoinKernelArgs(srv.Spec.KernelArgs, cl.Spec.KernelArgs), instead: instead, fallback: c.fallbackAfter(cl),
	}
}

// Make makes an owner's boot configuration with its grant. Both are one key,
// written once.
func (c *Room) Make(ctx context.Context, o Wanted, srv *resource.Server, img resource.Image) error {
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:     srv.Metadata.Name,
		Owner:      resource.Owner{Kind: o.Purpose, Name: o.Owner, UID: o.UID},
		BootSpec:   resource.BootSpec{Image: img, BootPolicy: o.Policy},
		BootEnv:    img.BootEnv(),
		Ignition:   o.Ignition,
		KernelArgs: o.KernelArgs,
		Group:      o.Group,
		Revision:   o.Revision,
	}}
	now := c.cfg.Clock()
	cfg.Metadata = resource.Metadata{Name: o.Name, UID: c.cfg.NewID(), Generation: o.generation(), CreatedAt: &now}
	if o.instead != nil {
		cfg.Metadata.Revision = o.instead.Metadata.Revision
	}
	cfg.Status.Seen = seenOver(o)
	cfg.Default()
	grant, err := c.grantFor(o, srv, img)
	if err != nil {
		return err
	}
	cfg.Spec.Grant, cfg.Spec.Former = grant, plan.FormerOf(o.instead, o.fallback)
	if err := c.cfg.Objects.Put(ctx, cfg); err != nil {
		return err
	}
	c.cfg.Crash.At("hub." + string(o.Purpose) + ".configured")
	if cfg.Spec.BootEnv != "" {
		c.cfg.Events.Own(ctx, srv.Metadata.Name, resource.EventBootEnv, fmt.Sprintf("%s %s boots %s; grant given", o.Purpose, o.Owner, cfg.Spec.BootEnv))
		return nil
	}
	c.cfg.Events.Own(ctx, srv.Metadata.Name, resource.EventResolved, img.Reference+" is "+img.Digest+"; grant given")
	return nil
}

// grantFor is the permission that goes with a configuration.
func (c *Room) grantFor(o Wanted, srv *resource.Server, img resource.Image) ([]byte, error) {
	attempts := o.Attempts
	if attempts == 0 {
		attempts = firstBootAttempts
	}
	g := message.Grant{
		OwnerUID: o.UID, Generation: o.generation(), Server: srv.Metadata.Name, ServerUID: srv.Metadata.UID, ImageDigest: img.Digest,
		FirstBoot: o.Policy.FirstBoot, Network: o.Policy.Network, MaxAttempts: attempts, IssuedAt: c.cfg.Clock(), Repeat: plan.Repeats(o.Purpose, o.Policy),
		Over: o.Task != nil && o.Task.Installs,
	}
	if o.Purpose != resource.PurposeClaim {
		g.Purpose = o.Purpose
	}
	return wire.Seal(c.cfg.Signer, wire.FactGrant, g)
}

// fallbackAfter is after how many failed boots the agent of a claim's server returns to
// what it booted before, as the claim's group says; 0 is never.
func (c *Room) fallbackAfter(cl *resource.Claim) int {
	if cl.Spec.ImageFrom == nil || cl.Spec.BootPolicy.Boot != resource.BootNetwork {
		return 0
	}
	g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, cl.Spec.ImageFrom.Group)
	if err != nil {
		return 0
	}
	return g.Spec.Rollout.FallbackAfter
}
