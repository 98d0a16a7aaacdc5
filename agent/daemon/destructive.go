package daemon

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"time"

	"rackboot/agent"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// BulkStop bounds how many servers of the rack are forced off without an approval by the
// destructive key. It counts only where the agent knows such a key.
type BulkStop struct {
	// Servers is how many; 0 does not bound it. Default 8.
	Servers *int `yaml:"servers"`
	// Window is the time within which they are counted. Default 10m.
	Window time.Duration `yaml:"window"`
}

func (b *BulkStop) check() error {
	if b.Servers == nil {
		b.Servers = new(agent.DefaultBulkStop)
	}
	if b.Window == 0 {
		b.Window = agent.DefaultBulkStopWindow
	}
	switch {
	case *b.Servers < 0:
		return fmt.Errorf("bulkStop.servers: %d is no number of servers", *b.Servers)
	case b.Window < time.Second || b.Window > 24*time.Hour:
		return fmt.Errorf("bulkStop.window: %s is not between 1s and 24h", b.Window)
	}
	return nil
}

// destructive is what the agent wants for destructive actions: the key of its own file,
// else the one that joining gave it, else that of the key statements: their first is signed by
// the everyday key, which must not replace one that was pinned.
func (c *Config) destructive(id identity) (d agent.Destructive, err error) {
	bound := c.BulkStop
	if err := bound.check(); err != nil { // of a Config that was not read from a file
		return d, err
	}
	d = agent.Destructive{BulkStop: *bound.Servers, Window: bound.Window}
	switch {
	case c.DestructiveKey != "":
		key, err := readPublicKey(c.DestructiveKey)
		if err != nil {
			return d, err
		}
		d.Keys = []ed25519.PublicKey{key}
	case len(id.Answer.DestructiveKey) == ed25519.PublicKeySize:
		d.Keys = []ed25519.PublicKey{id.Answer.DestructiveKey}
	case len(id.Answer.DestructiveKey) != 0:
		return d, protocol.Errorf(protocol.CodeInvalid, "read the agent's identity", "the destructive key is not an Ed25519 public key").
			WithHint("join again with a new token, or give destructiveKey in the agent's file")
	case len(id.Keys.Destructive) == ed25519.PublicKeySize:
		d.Keys = []ed25519.PublicKey{id.Keys.Destructive}
	}
	return d, nil
}

func readPublicKey(path string) (ed25519.PublicKey, error) {
	const op = "read the agent's file"
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "destructiveKey: %w", err).WithHint("give the .pub file that rackctl key make-destructive wrote")
	}
	key, err := wire.ParsePublicKey(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "destructiveKey: %s: %w", path, err).WithHint("give the .pub file that rackctl key make-destructive wrote")
	}
	return key, nil
}
