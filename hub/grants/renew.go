package grants

import (
	"bytes"
	"context"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Renew signs the grants of a configuration again that a former key of this hub has
// signed, also that of what it may return to: agents that follow the newer key do not take
// them any more. They are the same grants: an agent that has used one knows it by claim and
// generation.
func (c *Room) Renew(ctx context.Context, cfg *resource.BootConfiguration) error {
	if len(c.cfg.PastKeys) == 0 {
		return nil
	}
	grant, err := c.signedAgain(cfg, cfg.Spec.Grant)
	if err != nil {
		return err
	}
	var former []byte
	if f := cfg.Spec.Former; f != nil {
		if former, err = c.signedAgain(cfg, f.Grant); err != nil {
			return err
		}
	}
	if grant == nil && former == nil {
		return nil
	}
	own := store.Copy(c.cfg.Objects, cfg)
	if grant != nil {
		own.Spec.Grant = grant
	}
	if former != nil {
		own.Spec.Former.Grant = former
	}
	return c.cfg.Objects.Put(ctx, own)
}

// signedAgain is a grant by the present key; nil if it is so already.
func (c *Room) signedAgain(cfg *resource.BootConfiguration, grant []byte) ([]byte, error) {
	if len(grant) == 0 {
		return nil, nil
	}
	e, err := wire.Inspect(grant)
	if err != nil || bytes.Equal(e.KeyID, wire.KeyID(c.cfg.Signer.Public())) {
		return nil, nil //nolint:nilerr // what nobody can read stays what it is: agents refuse it
	}
	var g message.Grant
	if err := c.cfg.Link.Open(wire.FactGrant, grant, &g); err != nil {
		c.cfg.Logger.Error("a grant was signed by a key that this hub never had", "claim", cfg.Spec.Owner.Name, "err", err)
		return nil, nil
	}
	return wire.Seal(c.cfg.Signer, wire.FactGrant, g)
}
