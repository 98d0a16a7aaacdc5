package link

import (
	"crypto/ed25519"

	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// hubKeys are the keys of the hub that are believed, made ready.
type hubKeys struct {
	keys     []ed25519.PublicKey
	verifier *wire.Verifier
}

func newHubKeys(keys []ed25519.PublicKey) *hubKeys { return &hubKeys{keys, wire.NewVerifier(keys...)} }

// Trust replaces the keys that the hub's documents and grants are verified with. It is
// safe for concurrent use.
func (r *Room) Trust(keys ...ed25519.PublicKey) {
	r.keys.Store(newHubKeys(keys))
	r.cfg.Reports.Clear(resource.CondMessagesRefused) // of the key that was not known yet
	r.cfg.Heard.LookAtAll()                           // grants are verified anew
}

// Verifier verifies what the hub has signed.
func (r *Room) Verifier() *wire.Verifier { return r.keys.Load().verifier }
