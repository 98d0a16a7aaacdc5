package agent

import (
	"crypto/ed25519"
	"time"

	"rackboot/agent/link"
	"rackboot/protocol/resource"
)

// Subscriptions are the topics that an agent listens to.
func Subscriptions(agent string) []string { return link.Subscriptions(agent) }

// Connected begins a session on a new connection.
func (a *Agent) Connected(t link.Transport) { a.link.Connected(t) }

// Receive takes one message. It returns after what the message says is on disk.
// It is called from one goroutine.
func (a *Agent) Receive(topic string, payload []byte) { a.link.Receive(topic, payload) }

// Trust replaces the keys that the hub's documents and grants are verified with. It is
// safe for concurrent use.
func (a *Agent) Trust(keys ...ed25519.PublicKey) { a.link.Trust(keys...) }

// End takes the hub's sealed word that this agent's term is over, and keeps it: from
// then on nothing is served, and no BMC is written to or read. Holds stay on disk as
// they are. Errors: denied for a word that is not the hub's or not about this agent.
func (a *Agent) End(sealed []byte) error { return a.link.End(sealed) }

// Over reports whether the hub has ended the agent's term.
func (a *Agent) Over() bool { return a.link.Over() }

// Waits reports whether the agent has just started, and does only what holds want until the hub has answered.
func (a *Agent) Waits() bool { return a.link.Standing().Waits }

// HubTime returns the hub's time by its signed words, never behind it; zero while it is not
// known or its last word is not fresh. words counts them.
func (a *Agent) HubTime() (at time.Time, words uint64) { return a.link.Word() }

// Tell raises a condition of the agent, or clears it. It is safe for concurrent use.
func (a *Agent) Tell(code resource.ConditionCode, so bool, message string) {
	if so {
		a.reports.Raise(code, message)
	} else {
		a.reports.Clear(code)
	}
}
