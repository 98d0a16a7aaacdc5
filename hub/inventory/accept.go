package inventory

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// AcceptBMC makes a BMC that was found an accepted one. The same again is no change.
// The codes are invalid, not_found, conflict, unavailable and timeout.
func (c *Room) AcceptBMC(ctx context.Context, name string, r api.AcceptBMC, by string) (*resource.BMC, error) {
	const op = "accept bmc"
	known := false // that it is accepted already is so in the store
	for try := 1; ; try++ {
		b, err := store.Get[*resource.BMC](c.cfg.Store.Objects, name)
		if err != nil {
			return nil, err
		}
		want := resource.BMCTLS{Fingerprint: r.Fingerprint, CA: r.CA, Legacy: r.LegacyTLS}
		switch {
		case !b.Pending() && b.Spec.CredentialsRef == r.CredentialsRef && b.Spec.TLS == want:
			if known {
				return b, nil
			}
			if err = c.cfg.Store.Objects.Current(ctx); err == nil || protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
				known = err == nil
				continue
			}
			return nil, err
		case !b.Pending():
			return nil, protocol.Errorf(protocol.CodeConflict, op, "BMC %q is accepted already, with other credentials or another pin", name).
				WithHint("change those with rackctl apply; rackctl get bmc %s -o yaml shows it", name)
		}
		if err := c.CheckSecret(r.CredentialsRef); err != nil {
			return nil, err
		}
		if other := c.sameMAC(b); other != "" {
			return nil, protocol.Errorf(protocol.CodeConflict, op, "BMC %q is accepted already and has the MAC address %s", other, b.Spec.MACAddress).
				WithHint("delete the one that is wrong")
		}
		b.Spec.CredentialsRef, b.Spec.TLS = r.CredentialsRef, want
		b.Status.State, b.Status.AcceptedBy = resource.BMCAccepted, by
		b.Metadata.Generation++
		if f := b.Validate(); len(f) > 0 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%q: %w", name, f).WithHint("nothing was changed; correct what is named")
		}
		err = c.cfg.Store.Objects.Put(ctx, b)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.bmc.accepted")
		c.cfg.Logger.Info("bmc accepted", "bmc", name, "by", by)
		c.cfg.Events.OwnOf(ctx, resource.Target{Kind: resource.KindBMC, Name: name}, "", resource.EventAcceptedBMC, name+" by "+by)
		return b, nil
	}
}

// CheckSecret says what is wrong with the Secret of a credentialsRef.
func (c *Room) CheckSecret(ref string) error {
	name := resource.SecretOf(ref)
	if name == "" {
		return nil
	}
	secret, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, name)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeInvalid, "accept bmc", "Secret %q does not exist", name).
			WithHint("rackctl secret set %s --type %s makes it", name, resource.SecretBMC)
	case secret.Spec.Type != resource.SecretBMC:
		return protocol.Errorf(protocol.CodeInvalid, "accept bmc", "Secret %q is of type %s, not %s", name, secret.Spec.Type, resource.SecretBMC)
	}
	return nil
}

// sameMAC is another accepted BMC with the MAC address of one; empty if there is
// none.
func (c *Room) sameMAC(b *resource.BMC) string {
	for _, other := range store.Find(c.cfg.Store.Objects, store.BMCsByMAC, b.Spec.MACAddress) {
		if other.Metadata.Name != b.Metadata.Name && !other.Pending() {
			return other.Metadata.Name
		}
	}
	return ""
}

// AcceptServer accepts the board and interfaces that a server's agent reports, if
// they are the ones that were shown to whoever accepts. The codes are not_found,
// conflict, unavailable and timeout.
func (c *Room) AcceptServer(ctx context.Context, name string, r api.AcceptServer, by string) (*resource.Server, error) {
	const op = "accept server"
	known := false // that it is accepted already is so in the store
	for try := 1; ; try++ {
		s, err := store.Get[*resource.Server](c.cfg.Store.Objects, name)
		if err != nil {
			return nil, err
		}
		rep, _ := c.cfg.Reports.Server(name)
		switch {
		case rep == nil || rep.Identity == "":
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the agent has not reported what board and interfaces server %q has", name).
				WithHint("wait until its BMC was read; rackctl describe server %s", name)
		case rep.Identity != r.Identity:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "server %q shows another identity now, %s", name, rep.Identity).
				WithHint("look at it again, then accept it")
		case s.Status.AcceptedIdentity == r.Identity:
			if known {
				return s, nil
			}
			if err = c.cfg.Store.Objects.Current(ctx); err == nil || protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
				known = err == nil
				continue
			}
			return nil, err
		}
		s.Status.AcceptedIdentity = r.Identity
		err = c.cfg.Store.Objects.Put(ctx, s)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.server.accepted")
		c.cfg.Logger.Info("server accepted", "server", name, "identity", r.Identity, "by", by)
		c.cfg.Events.Own(ctx, name, resource.EventIdentity, "accepted by "+by+": "+r.Identity)
		return s, nil
	}
}
