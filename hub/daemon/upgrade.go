package daemon

import (
	"context"
	"crypto/ed25519"

	"rackboot/hub/packages"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/resource"
	"rackboot/state/clock"
)

// Upgrade says whose packages of agents the hub takes.
type Upgrade struct {
	// Keys are public keys of publishers, each a file or PEM. With them the hub refuses packages that none of them signed;
	// without, it takes what any key signed. Agents decide by the keys of their own files.
	Keys []string `yaml:"keys"`
}

// publishers reads the keys. One that cannot be read must not let the hub take what others signed.
func (c Config) publishers() ([]ed25519.PublicKey, error) {
	keys, err := agentpackage.ReadKeys(c.Upgrade.Keys)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err).WithHint("name the public halves that rackctl agent-package keygen has made")
	}
	return keys, nil
}

// openPackages makes what keeps packages of agents.
func (h *hub) openPackages(c Config) (*packages.Room, error) {
	keys, err := c.publishers()
	if err != nil {
		return nil, err
	}
	return packages.New(packages.Config{
		Store: h.store, Shelf: h.isos, Keys: keys, Event: func(ctx context.Context, message string) {
			h.control.Events.Own(ctx, "", resource.EventAgentUpgrade, message)
		},
		Clock: clock.Now, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	}), nil
}
