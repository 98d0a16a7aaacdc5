package daemon

import (
	"crypto/ed25519"

	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
)

// Upgrade says whose packages of agents the hub takes.
type Upgrade struct {
	// Keys are public keys of publishers, each a file or PEM. With them the hub refuses packages that none of them signed;
	// without, it takes what any key signed. Agents decide by the keys of their own files.
	Keys []string `yaml:"keys"`
}

// publishers reads the keys. One that cannot be read must not let the hub take what others signed.
func (u Upgrade) publishers() ([]ed25519.PublicKey, error) {
	keys, err := agentpackage.ReadKeys(u.Keys)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err).WithHint("name the public halves that rackctl agent-package keygen has made")
	}
	return keys, nil
}
