package inventory

import (
	"context"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// rotation goes on with the change of a BMC's account, and says how it stands.
func (c *Room) rotation(ctx context.Context, f plan.Fleet, b *resource.BMC, conds *bmcConditions) error {
	r := b.Status.Rotation
	name := resource.SecretOf(b.Spec.CredentialsRef)
	secret, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, name)
	if name != "" && err == nil && secret.Status.Rotation != nil && secret.Status.Rotation.BMC == b.Metadata.Name {
		r = secret.Status.Rotation
		rep := accountReport(f, b, secret)
		verdict := plan.Rotate(r.State, rep.State, rep.Change == r.ID, rep.Version == secret.Status.Version)
		if verdict != plan.RotationKeep {
			return c.rotated(ctx, b, secret, verdict, rep.Reason)
		}
	}
	if r == nil || r.Reason == "" && (r.State == resource.RotationPromoted || r.State == resource.RotationDone) {
		return nil
	}
	code := resource.CondRotationFailed
	if r.State == resource.RotationUnderWay {
		code = resource.CondRotating
	}
	conds.bmc(b.Metadata.Name, code, "asked for by %s: %s", r.By, r.Reason)
	return nil
}

// accountReport is what the agent says of the account, by any server behind the BMC.
func accountReport(f plan.Fleet, b *resource.BMC, secret *resource.Secret) (out resource.AccountReport) {
	for _, s := range f.Behind(b.Metadata.Name) {
		r := f.Reports[s]
		if r == nil || r.Account == nil || r.Account.UID != secret.Metadata.UID || r.Account.Version < out.Version {
			continue
		}
		if out.State == "" || r.Account.Version > out.Version || r.Account.State != resource.AccountChanging {
			out = *r.Account
		}
	}
	return out
}

// rotated writes what came of a change. Each step is one write, and the next pass does
// what a crash left.
func (c *Room) rotated(ctx context.Context, b *resource.BMC, peeked *resource.Secret, verdict plan.RotationVerdict, reason string) error {
	name := peeked.Metadata.Name
	stored, err := c.cfg.Store.Secrets.Get(name)
	if err != nil || stored.Version != peeked.Status.Version {
		return err // the next pass sees it
	}
	data, err := c.cfg.Vault.Open(stored)
	if err != nil {
		return err
	}
	r := *peeked.Status.Rotation
	r.At = c.cfg.Clock().UTC()
	w := store.SecretWrite{Name: name, Revision: stored.Revision, Rotation: &r}
	switch verdict {
	case plan.RotationPromote:
		r.State, r.Reason, w.Data = resource.RotationPromoted, reason, promoted(data)
	case plan.RotationRollBack:
		r.State, r.Reason, w.Data = resource.RotationFailed, reason, only(data)
		if from := text(data, nextFrom); from != "" {
			return c.giveBack(ctx, b, from, r)
		}
	case plan.RotationLose:
		r.State, r.Reason, w.Data, w.SameVersion = resource.RotationLost, reason, data, true
	case plan.RotationForget:
		r.State, w.Data, w.SameVersion = resource.RotationDone, only(data), true
	case plan.RotationKeep:
		return nil
	}
	if err := c.cfg.Store.Secrets.Write(ctx, w); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.account." + string(verdict))
	c.cfg.Logger.Info("change of an account", "bmc", b.Metadata.Name, "secret", name, "change", r.ID, "state", r.State, "reason", r.Reason)
	c.cfg.Wake.Rack(b.Spec.RackRef.Name)
	return nil
}

// giveBack gives a BMC the credentials back that it had before it got a Secret of its
// own, and then removes that Secret.
func (c *Room) giveBack(ctx context.Context, b *resource.BMC, from string, r resource.Rotation) error {
	own, err := store.Get[*resource.BMC](c.cfg.Store.Objects, b.Metadata.Name)
	if err != nil {
		return err
	}
	own.Spec.CredentialsRef, own.Status.Rotation = from, &r
	own.Metadata.Generation++
	if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.account.back")
	c.cfg.Logger.Info("change of an account", "bmc", b.Metadata.Name, "change", r.ID, "state", r.State, "reason", r.Reason)
	c.cfg.Wake.Rack(b.Spec.RackRef.Name)
	return c.dropOwn(ctx, own)
}

// dropOwn removes the Secret that was made for a BMC whose change failed.
func (c *Room) dropOwn(ctx context.Context, b *resource.BMC) error {
	name := ownPrefix + b.Metadata.Name
	r := b.Status.Rotation
	if r == nil || r.State != resource.RotationFailed || resource.SecretOf(b.Spec.CredentialsRef) == name {
		return nil
	}
	s, err := store.Get[*resource.Secret](c.cfg.Store.Objects, name)
	if err != nil || s.Status.Rotation == nil || s.Status.Rotation.ID != r.ID || len(c.cfg.Store.Secrets.Users(name)) > 0 {
		return nil //nolint:nilerr // it is gone
	}
	return c.cfg.Store.Objects.Remove(ctx, s)
}
