package inventory

import (
	"bytes"
	"context"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// sealedFor is what was sealed of a Secret for a BMC and the present key of an agent,
// and how far it is good. It may be of an earlier version of the Secret.
func (c *Room) sealedFor(b *resource.BMC, a *resource.Agent) (*message.SealedCredentials, plan.Sealed) {
	name := resource.SecretOf(b.Spec.CredentialsRef)
	if name == "" || a == nil {
		return nil, plan.SealedNone
	}
	secret, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, name)
	have := c.cfg.Store.Credentials.Peek(b.Metadata.Name)
	switch {
	case err != nil || have == nil || have.Agent != a.Metadata.Name || have.Key != sealbox.ID(a.Spec.SealKey),
		have.Secret != name || have.UID != secret.Metadata.UID:
		return nil, plan.SealedNone
	case have.Version != secret.Status.Version:
		return &have.SealedCredentials, plan.SealedOlder
	default:
		return &have.SealedCredentials, plan.SealedPresent
	}
}

// Sealed are the credentials that travel, by BMC.
func (c *Room) Sealed(f plan.Fleet) map[string]*message.SealedCredentials {
	out := map[string]*message.SealedCredentials{}
	agents := map[string]*resource.Agent{}
	for _, a := range f.Agents {
		agents[a.Metadata.Name] = a
	}
	serving := map[string]*resource.Agent{} // by rack
	for _, r := range f.Racks {
		serving[r.Metadata.Name] = agents[r.Status.Agent]
	}
	for _, b := range f.BMCs {
		if s, _ := c.sealedFor(b, serving[b.Spec.RackRef.Name]); s != nil {
			out[b.Metadata.Name] = s
		}
	}
	return out
}

// bmcIntent is plan.BMCIntent with what was sealed.
func (c *Room) bmcIntent(b *resource.BMC, agent string) (message.BMCIntent, bool) {
	in, usable := plan.BMCIntent(b)
	if a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, agent); err == nil {
		in.Sealed, _ = c.sealedFor(b, a)
	}
	return in, usable
}

// sealAgain seals the credentials of one BMC for its agent where that is due, and says
// what is wrong: at the BMC, and at the servers behind it.
func (c *Room) sealAgain(ctx context.Context, f plan.Fleet, b *resource.BMC, conds *bmcConditions) error {
	name := resource.SecretOf(b.Spec.CredentialsRef)
	if name == "" || b.Pending() {
		return nil
	}
	why := func(code resource.ConditionCode, text string) {
		conds.bmc(b.Metadata.Name, code, "%s", text)
		for _, s := range f.Behind(b.Metadata.Name) {
			conds.server(s, code, "of its BMC "+b.Metadata.Name+": "+text)
		}
	}
	agent := agentOf(f, b)
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, agent)
	joined := agent != "" && err == nil
	_, have := c.sealedFor(b, a)
	switch plan.Seal(joined, joined && len(a.Spec.SealKey) > 0, have) {
	case plan.SealNoAgent, plan.SealKeep: // CondNoAgent is said elsewhere
		return nil
	case plan.SealNoKey:
		why(resource.CondSecretNotSealed, "agent "+agent+" has given no key for secrets; it says it in its Hello from the release on that opens them")
		return nil
	case plan.SealNow:
	}
	stored, err := c.cfg.Store.Secrets.Get(name)
	if err != nil {
		why(resource.CondSecretNotSealed, err.Error())
		return nil
	}
	next, err := c.sealOne(stored, b, a)
	if err != nil {
		c.cfg.Seals.Failed()
		why(resource.CondSecretNotSealed, err.Error())
		return nil
	}
	if old := c.cfg.Store.Credentials.Peek(b.Metadata.Name); old != nil {
		next.Revision = old.Revision
	}
	if err := c.cfg.Store.Credentials.Put(ctx, next); err != nil {
		return err
	}
	c.cfg.Seals.Sealed()
	c.cfg.Crash.At("hub.secret.sealed")
	c.cfg.Logger.Info("credentials sealed", "bmc", b.Metadata.Name, "secret", name, "version", next.Version, "agent", agent, "key", next.Key)
	return nil
}

func (c *Room) sealOne(s store.StoredSecret, b *resource.BMC, a *resource.Agent) (*store.Sealed, error) {
	if c.cfg.Vault == nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "seal credentials", "this hub has no vault")
	}
	data, err := c.cfg.Vault.Open(s)
	if err != nil {
		return nil, err
	}
	credentials := credentialsOf(data)
	if credentials.Username == "" && credentials.Local == "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, "seal credentials", "Secret %q is no account of a BMC", s.Name).
			WithHint("rackctl secret set %s --type %s", s.Name, resource.SecretBMC)
	}
	binding := sealbox.Binding{Agent: a.Metadata.Name, BMC: b.Metadata.Name, Secret: s.Name, UID: s.UID, Version: s.Version}
	sealed, err := sealbox.Seal(a.Spec.SealKey, binding, credentials)
	if err != nil {
		return nil, err
	}
	return &store.Sealed{BMC: b.Metadata.Name, Agent: a.Metadata.Name, Key: sealbox.ID(a.Spec.SealKey), SealedCredentials: *sealed}, nil
}

// SealKey takes over the key of a Hello, which the agent has signed. One that may
// be of the past does not come here: it would have secrets sealed for a key that is gone.
func (c *Room) SealKey(ctx context.Context, agent string, key []byte) error {
	if len(key) != resource.SealKeySize {
		return nil
	}
	for try := 1; ; try++ {
		a, err := store.Get[*resource.Agent](c.cfg.Store.Objects, agent)
		if err != nil || bytes.Equal(a.Spec.SealKey, key) {
			return err
		}
		c.cfg.Logger.Info("an agent has another key for secrets; what is for it is sealed again", "agent", agent, "key", sealbox.ID(key))
		a.Spec.SealKey = key
		a.Metadata.Generation++
		if err = c.cfg.Store.Objects.Put(ctx, a); protocol.CodeOf(err) != protocol.CodeConflict || try == store.Tries {
			return err
		}
	}
}

// DecorateSecret says who uses a Secret and whether the hub can read it.
func (c *Room) DecorateSecret(s *resource.Secret) {
	s.Status.UsedBy = c.cfg.Store.Secrets.Users(s.Metadata.Name)
	stored, err := c.cfg.Store.Secrets.Get(s.Metadata.Name)
	if err == nil && c.cfg.Vault != nil {
		_, err = c.cfg.Vault.Open(stored)
	}
	if err != nil {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: resource.CondSecretUnreadable, Since: c.cfg.Began, Message: err.Error()})
	}
}
