package inventory

import (
	"context"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// ownPrefix is before the BMC's name in that of its own Secret.
const ownPrefix = "bmc-"

// RotateBMC begins the change of a BMC's account: a new password is made and sealed for
// the agent beside the account in use. While one is under way, the same again is no
// change. The codes are invalid, not_found, conflict, unsupported, unavailable and
// timeout.
func (c *Room) RotateBMC(ctx context.Context, name string, r api.RotateBMC, by string) (*resource.BMC, error) {
	const op = "rotate account"
	if err := r.Check(); err != nil {
		return nil, err
	}
	b, err := store.Get[*resource.BMC](c.cfg.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	own, secret, err := c.accountToRotate(b, r)
	if err != nil || !own && underWay(secret) {
		return b, err
	}
	if err := c.canRotate(b); err != nil {
		return nil, err
	}
	if !own || secret == nil { // else an earlier try has written it, and not the BMC
		w, err := c.nextAccount(b, secret, r, own)
		if err != nil {
			return nil, err
		}
		w.Rotation.By = by
		if err := c.cfg.Store.Secrets.Write(ctx, w); err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.account.next")
		c.cfg.Logger.Info("account is to be changed", "bmc", name, "secret", w.Name, "change", w.Rotation.ID, "by", by)
	}
	if own {
		b.Spec.CredentialsRef = "secret:" + ownPrefix + name
		b.Metadata.Generation++
		if err := c.cfg.Store.Objects.Put(ctx, b); err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), op, "%w", err).WithHint("the same again completes it")
		}
		c.cfg.Crash.At("hub.account.own")
	}
	c.cfg.Wake.Rack(b.Spec.RackRef.Name)
	return b, nil
}

func underWay(s *resource.Secret) bool {
	return s != nil && s.Status.Rotation != nil && s.Status.Rotation.State == resource.RotationUnderWay
}

// nextAccount is the Secret with the next account beside the one in use.
func (c *Room) nextAccount(b *resource.BMC, secret *resource.Secret, r api.RotateBMC, own bool) (w store.SecretWrite, err error) {
	const op = "rotate account"
	name, from := b.Metadata.Name, resource.SecretOf(b.Spec.CredentialsRef)
	data := resource.SecretData{}
	if from != "" {
		stored, err := c.cfg.Store.Secrets.Get(from)
		if err != nil {
			return w, err
		}
		if data, err = c.cfg.Vault.Open(stored); err != nil {
			return w, err
		}
		data = only(data)
	}
	w = store.SecretWrite{Name: from, Data: data}
	if own {
		w.Name = ownPrefix + name
		data[nextFrom] = resource.Plain(b.Spec.CredentialsRef)
		if file := resource.LocalOf(b.Spec.CredentialsRef); file != "" {
			data[nextLocal] = resource.Plain(file)
		}
	} else {
		w.Revision = secret.Metadata.Revision
	}
	user := r.User
	if user == "" {
		user = text(data, resource.SecretUsername)
	}
	if user == "" {
		return w, protocol.Errorf(protocol.CodeInvalid, op, "BMC %q has a local account, which the hub does not know", name).
			WithHint("give the user of the new one: --user NAME")
	}
	w.Rotation = &resource.Rotation{ID: c.cfg.NewID(), BMC: name, State: resource.RotationUnderWay, At: c.cfg.Clock().UTC()}
	data[nextUsername], data[nextPassword] = resource.Plain(user), resource.Plain(resource.NewPassword(r.Length))
	data[nextDrop], data[nextChange] = resource.Plain(r.Drop), resource.Plain(w.Rotation.ID)
	return w, nil
}

// accountToRotate is the Secret to write, and whether the BMC gets one of its own. Only
// a Secret that one BMC alone uses may be changed: the others would keep the old one.
func (c *Room) accountToRotate(b *resource.BMC, r api.RotateBMC) (own bool, secret *resource.Secret, err error) {
	name := b.Metadata.Name
	refuse := func(code protocol.Code, hint, format string, args ...any) (bool, *resource.Secret, error) {
		return false, nil, protocol.Errorf(code, "rotate account", format, args...).WithHint("%s", hint)
	}
	ownHint := "rackctl bmc own " + name + " --user NAME gives it one of its own"
	from := resource.SecretOf(b.Spec.CredentialsRef)
	switch {
	case b.Pending():
		return refuse(protocol.CodeConflict, "rackctl bmc accept "+name, "BMC %q waits to be accepted", name)
	case c.cfg.Vault == nil:
		return refuse(protocol.CodeUnavailable, "configure secrets in the hub's file", "this hub has no vault")
	case from == "" && !r.Own:
		return refuse(protocol.CodeConflict, ownHint, "the account of BMC %q is %s, at the agent", name, b.Spec.CredentialsRef)
	}
	users := c.cfg.Store.Secrets.Users(from)
	alone := from != "" && len(users) == 1 && users[0] == string(resource.KindBMC)+"/"+name
	if from != "" && !alone && !r.Own {
		return refuse(protocol.CodeConflict, ownHint, "Secret %q is shared by %s", from, strings.Join(users, ", "))
	}
	if alone {
		secret, err = store.Get[*resource.Secret](c.cfg.Store.Objects, from)
		if err == nil && secret.Status.Rotation != nil && secret.Status.Rotation.State == resource.RotationLost {
			return refuse(protocol.CodeConflict, "set the password at the BMC, then rackctl secret set "+from, "the BMC refused both accounts of the last change")
		}
		return false, secret, err
	}
	secret, err = store.Get[*resource.Secret](c.cfg.Store.Objects, ownPrefix+name)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return true, nil, nil
	case err != nil:
		return true, nil, err
	case !underWay(secret) || secret.Status.Rotation.BMC != name || len(c.cfg.Store.Secrets.Users(ownPrefix+name)) > 0:
		return refuse(protocol.CodeConflict, "delete it, or have the BMC use it", "there is a Secret %q already", ownPrefix+name)
	}
	return true, secret, nil
}

// canRotate says why no agent would do it.
func (c *Room) canRotate(b *resource.BMC) error {
	const op = "rotate account"
	name, agent := b.Metadata.Name, ""
	if r, err := store.Peek[*resource.Rack](c.cfg.Store.Objects, b.Spec.RackRef.Name); err == nil {
		agent = r.Status.Agent
	}
	if agent == "" {
		return protocol.Errorf(protocol.CodeUnavailable, op, "rack %s has no agent", b.Spec.RackRef.Name).WithHint("join one first")
	}
	if l, err := c.cfg.Store.Ledgers.Peek(agent); err != nil || !l.Peer.Can(message.CapRotate) {
		return protocol.Errorf(protocol.CodeUnsupported, op, "agent %s cannot change accounts", agent).WithHint("upgrade it; it says what it can when it connects")
	}
	if len(store.Referring[*resource.Server](c.cfg.Store.Objects, resource.KindBMC, name)) == 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "no Server is behind BMC %q, so the agent has not its account", name).WithHint("apply its Server first")
	}
	return nil
}
