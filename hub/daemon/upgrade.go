package daemon

import (
	"context"

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

// openPackages makes what keeps packages of agents.
func (h *hub) openPackages(c Config) (*packages.Room, error) {
	keys, err := agentpackage.ReadKeys(c.Upgrade.Keys)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err).WithHint("name the public halves that rackctl agent-package keygen has made")
	}
	return packages.New(packages.Config{
		Store: h.store, Shelf: h.isos, Keys: keys, Event: func(ctx context.Context, message string) {
			h.control.Events.Own(ctx, "", resource.EventAgentUpgrade, message)
		},
		Clock: clock.Now, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	}), nil
}
