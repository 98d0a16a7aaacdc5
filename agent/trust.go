package agent

import (
	"crypto/ed25519"
	"time"

	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// hubKeys are the keys of the hub that are believed, made ready.
type hubKeys struct {
	keys     []ed25519.PublicKey
	verifier *wire.Verifier
}

// Trust replaces the keys that the hub's documents and grants are verified with. It is
// safe for concurrent use.
func (a *Agent) Trust(keys ...ed25519.PublicKey) {
	a.hub.Store(&hubKeys{keys, wire.NewVerifier(keys...)})
	if a.reports != nil {
		a.reports.Clear(resource.CondMessagesRefused) // of the key that was not known yet
		a.loops.LookAtAll()                           // grants are verified anew
	}
}

// Tell raises a condition of the agent, or clears it. It is safe for concurrent use.
func (a *Agent) Tell(code resource.ConditionCode, so bool, message string) {
	if so {
		a.reports.Raise(code, message)
	} else {
		a.reports.Clear(code)
	}
}

// HubTime is the hub's time by its signed words, never behind it; zero while it is not known
// or its last word is not fresh. words counts them.
func (a *Agent) HubTime() (at time.Time, words uint64) { return a.hubClock.word() }

// news says that the hub trusts or tells something else than before, or, where trust is
// empty, that a message came by a key that is not known.
func (a *Agent) news(trust string) {
	if a.cfg.News != nil {
		a.cfg.News(trust)
	}
}
