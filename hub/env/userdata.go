package env

import (
	"context"
	"fmt"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// RefOf is the present version of a Secret of user data.
func RefOf(s *resource.Secret) *resource.IgnitionRef {
	return &resource.IgnitionRef{Secret: s.Metadata.Name, UID: s.Metadata.UID, Version: s.Status.Version, Digest: s.Status.Digest}
}

// IgnitionOf is the present version of the Secret that a claim or a maintenance names;
// nil without one.
func (c *Room) IgnitionOf(named *resource.Ref) *resource.IgnitionRef {
	if named == nil {
		return nil
	}
	s, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, named.Name)
	if err != nil {
		return nil
	}
	return RefOf(s)
}

// UserData is what an owner's configuration is to fix. It is read and checked before
// anything is made, so that data that is wrong has no other effect than its condition.
func (c *Room) UserData(named *resource.Ref) (*resource.IgnitionRef, *resource.ConditionState) {
	if named == nil {
		return nil, nil
	}
	invalid := func(why string) (*resource.IgnitionRef, *resource.ConditionState) {
		return nil, &resource.ConditionState{Code: resource.CondUserDataInvalid, Message: why}
	}
	ref := c.IgnitionOf(named)
	if ref == nil {
		return invalid(fmt.Sprintf("Secret %s does not exist", named.Name))
	}
	if _, err := c.OpenIgnition(*ref); err != nil {
		return invalid(err.Error())
	}
	return ref, nil
}

// OpenIgnition is user data as the server is to get it. No error has anything of it.
func (c *Room) OpenIgnition(ref resource.IgnitionRef) ([]byte, error) {
	const op = "read user data"
	raw, err := c.RawIgnition(ref)
	if err != nil {
		return nil, err
	}
	out, errs := ignition.Check(raw)
	if len(errs) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Secret %s: %w", ref.Secret, errs)
	}
	return out.JSON, nil
}

// RawIgnition is user data as somebody wrote it. No error has anything of it.
func (c *Room) RawIgnition(ref resource.IgnitionRef) ([]byte, error) {
	stored, err := c.cfg.Store.Secrets.Stub(ref)
	switch {
	case err != nil:
		return nil, err
	case c.cfg.Vault == nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, "read user data", "this hub has no vault")
	}
	data, err := c.cfg.Vault.Open(stored)
	return data[resource.SecretUserData], err
}

// sealsIgnition says whether what was sealed for a configuration is the user data and for
// the present key of an agent.
func sealsIgnition(v *store.SealedIgnition, b *resource.BootConfiguration, ref *resource.IgnitionRef, a *resource.Agent) bool {
	return v != nil && a != nil && ref != nil && v.Agent == a.Metadata.Name && v.Key == sealbox.ID(a.Spec.SealKey) &&
		v.OwnerUID == b.Spec.Owner.UID && v.Server == b.Spec.Server && v.Ref() == *ref
}

// ignitions is what travels of sealed user data, by configuration: of itself, and of what
// it may return to.
func (c *Room) ignitions(f plan.Fleet) (own, former map[string]message.IgnitionIntent) {
	own, former = map[string]message.IgnitionIntent{}, map[string]message.IgnitionIntent{}
	for _, b := range f.Configs {
		a := c.cfg.Store.Objects.AgentOf(b.Spec.Server)
		if v := c.cfg.Store.Ignitions.Peek(b.Metadata.Name); sealsIgnition(v, b, b.Spec.Ignition, a) {
			own[b.Metadata.Name] = v.IgnitionIntent
		}
		if v := c.cfg.Store.Ignitions.PeekFormer(b.Metadata.Name); sealsIgnition(v, b, b.Spec.Former.Data(), a) {
			former[b.Metadata.Name] = v.IgnitionIntent
		}
	}
	return own, former
}

// SealIgnition seals a configuration's user data for the agent of its server where that
// is due: for the first time, or because the agent has another key or is another one.
// What is provisioned needs none any more, unless each of its boots is from the network.
func (c *Room) SealIgnition(ctx context.Context, f plan.Fleet, b *resource.BootConfiguration) (*resource.ConditionState, error) {
	if b.Spec.Ignition == nil || b.Installed() && !plan.Repeats(b.Spec.Owner.Kind, b.Spec.BootPolicy) {
		return nil, nil
	}
	return c.sealData(ctx, f, b, *b.Spec.Ignition, c.cfg.Store.Ignitions.Peek(b.Metadata.Name), c.cfg.Store.Ignitions.Put)
}

// SealFormer does the same for what the configuration may return to.
func (c *Room) SealFormer(ctx context.Context, f plan.Fleet, b *resource.BootConfiguration) (*resource.ConditionState, error) {
	ref := b.Spec.Former.Data()
	if ref == nil {
		return nil, nil
	}
	return c.sealData(ctx, f, b, *ref, c.cfg.Store.Ignitions.PeekFormer(b.Metadata.Name), c.cfg.Store.Ignitions.PutFormer)
}

func (c *Room) sealData(ctx context.Context, f plan.Fleet, b *resource.BootConfiguration, ref resource.IgnitionRef, have *store.SealedIgnition,
	put func(context.Context, *store.SealedIgnition) error,
) (*resource.ConditionState, error) {
	not := func(why string) (*resource.ConditionState, error) {
		return &resource.ConditionState{Code: resource.CondUserDataNotSealed, Message: why}, nil
	}
	a := c.cfg.Store.Objects.AgentOf(b.Spec.Server)
	switch {
	case a == nil, sealsIgnition(have, b, &ref, a): // CondNoAgent is said elsewhere
		return nil, nil
	case len(a.Spec.SealKey) == 0:
		return not("agent " + a.Metadata.Name + " has given no key for secrets; it says it in its Hello from the release on that opens them")
	}
	next, err := c.sealUserData(b, ref, a)
	if err != nil {
		c.cfg.Seals.Failed()
		return not(err.Error())
	}
	if have != nil {
		next.Revision = have.Revision
	}
	if err := put(ctx, next); err != nil {
		return nil, err
	}
	c.cfg.Seals.Sealed()
	c.cfg.Crash.At("hub.ignition.sealed")
	c.cfg.Logger.Info("user data sealed", "server", b.Spec.Server, "secret", next.Secret, "version", next.Version, "agent", next.Agent, "key", next.Key)
	return nil, nil
}

func (c *Room) sealUserData(b *resource.BootConfiguration, ref resource.IgnitionRef, a *resource.Agent) (*store.SealedIgnition, error) {
	content, err := c.OpenIgnition(ref)
	if err != nil {
		return nil, err
	}
	body, err := sealbox.SealIgnition(a.Spec.SealKey, sealbox.IgnitionBinding{
		Agent: a.Metadata.Name, Server: b.Spec.Server, OwnerUID: b.Spec.Owner.UID, IgnitionRef: ref,
	}, content)
	if err != nil {
		return nil, err
	}
	intent := message.IgnitionOf(ref)
	intent.Sealed, intent.Size = sealbox.Digest(body), int64(len(body))
	return &store.SealedIgnition{
		Config: b.Metadata.Name, OwnerUID: b.Spec.Owner.UID, Server: b.Spec.Server, Agent: a.Metadata.Name, Key: sealbox.ID(a.Spec.SealKey),
		IgnitionIntent: *intent, Body: body,
	}, nil
}

// Ignition is the sealed user data that an agent asks for. agent is the common name of
// the certificate that TLS has verified. Everything that is not sealed for this agent, as
// it serves its rack now, is not there.
func (c *Room) Ignition(_ context.Context, q api.IgnitionRequest, agent string) (api.IgnitionAnswer, error) {
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, agent)
	if agent != "" && err == nil && c.cfg.Terms.Active(a) {
		if v := c.cfg.Store.Ignitions.For(agent, q.Sealed); v != nil {
			c.pulls.WithLabelValues(pullDone).Inc()
			return api.IgnitionAnswer{Body: v.Body}, nil
		}
	}
	c.pulls.WithLabelValues(pullDenied).Inc()
	return api.IgnitionAnswer{}, protocol.Errorf(protocol.CodeDenied, "fetch user data", "nothing of this digest is sealed for the agent of the certificate").
		WithHint("only the agent that serves a rack gets what is sealed for it, by its own certificate; a newer document may name another digest")
}

// The results of rackboot_hub_ignition_pulls_total.
const (
	pullDone   = "given"
	pullDenied = "denied"
)
