package link

import (
	"crypto/ed25519"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is what the room is made of.
type Config struct {
	Agent, Version string
	// Run is a random id of this process.
	Run string
	// Host and Addresses are where the agent runs, for people.
	Host      string
	Addresses []string
	// Place is where the disk is: another one on each host, and for each copy on one. Empty is not known.
	Place string
	// Guard says whether the agent has no store that it can write to; nil is never.
	Guard func() bool
	// Lost takes the hub's word that the store of an incarnation has less than the hub was told of, and
	// has another opened in its place; had is the sequence that it was told of. It is nil where nobody
	// can do that: then the agent goes on with what there is, as another incarnation.
	Lost    func(was string, had uint64)
	Store   *store.Store
	Reports *reports.Room
	Signer  *wire.Signer
	// HubKeys sign documents and grants.
	HubKeys []ed25519.PublicKey
	// Secrets has the key that the hub seals for; nil has none.
	Secrets Secrets
	// Capabilities are what the agent can do beside [message.Capabilities].
	Capabilities []message.Capability
	// InStep is told when the hub has answered and all that it has is in force; nil is not. It must not wait.
	InStep func()
	// Approvals is what the hub is told of the approvals that destructive actions need.
	Approvals *resource.ApprovalStance
	Heard     Heard
	// Beats is how the other agent of the rack is heard; nil is not.
	Beats func() []message.HeardBeat
	// Heartbeats says that they are sent to that one, which may then take over without anybody's statement.
	Heartbeats bool
	// Every is how often events are looked for that nobody has announced.
	Every time.Duration
	NewID func() string // of sessions

	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// inStep says that the hub has answered, and that all that it has is in force.
func (c *Config) inStep(on *footing) {
	if c.InStep != nil && !on.guards() {
		c.InStep()
	}
}

// Heard is told what counts of the hub's words. Receive calls it from its own goroutine.
type Heard interface {
	// Holds puts a document of holds in force. An error refuses the document.
	Holds(d message.HoldDoc, leaf, digest string) error
	// Rack puts a shard of the rack's document in force. An error refuses the document.
	Rack(d message.RackDoc, leaf, digest string) error
	// Ask takes a question. It does not wait.
	Ask(m message.Ask)
	// Contact takes that the hub was heard in a session that began after the last change of
	// segments.
	Contact()
	// Changed reads anew what may be served: whom the agent serves has changed on disk.
	Changed() error
	// LookAtAll makes the loops of all servers decide soon.
	LookAtAll()
	// News takes what the hub wants agents to trust, or an empty text when a message came by
	// a key that is not known. It does not wait.
	News(trust string)
}

// Secrets has the key that the hub seals for.
type Secrets interface {
	// Public is the key that the hub seals for.
	Public() []byte
}

// Transport publishes to the hub.
type Transport interface {
	Publish(topic string, payload []byte) error
}
