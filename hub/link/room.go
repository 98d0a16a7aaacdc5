package link

import (
	"crypto/ed25519"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/hub/events"
	"rackboot/hub/fence"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/hub/wake"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store  *store.Store
	Start  *fence.Start
	Signer *wire.Signer
	// PastKeys are those that signed before Signer.
	PastKeys []ed25519.PublicKey
	// Trust is the digest of what agents are told to trust; empty if there is none.
	Trust   string
	Terms   *terms.Terms
	Events  *events.Log
	Reports *reports.Mirror
	Wake    *wake.Units
	Heard   Heard
	// Publish sends to agents. What is lost is sent again.
	Publish func(topic string, payload []byte) error

	Clock  state.Clock
	NewID  func() string // ULIDs
	Random io.Reader
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// strangerRate is how many agents that are none any more are answered each second.
const strangerRate = 10

// unknownBurst is how many agents that nothing is known of are named in the log at once.
const unknownBurst = 20

// Room is the hub's side of the link. It is safe for concurrent use.
type Room struct {
	cfg       Config
	own       *wire.Verifier // of what this hub signed, also with its keys before
	contacts  *contacts
	sends     *sends
	lines     lines
	asks      *asks
	strangers *rate.Limiter // bounds the answers to agents that are none any more
	unknowns  *rate.Limiter // bounds the log lines about agents that nothing is known of
	metrics   *metrics

	announceMu sync.Mutex
	announced  string // nonce of the last announcement
}

// New returns a link of which no agent was heard.
func New(cfg Config) *Room {
	return &Room{
		cfg: cfg, own: wire.NewVerifier(append([]ed25519.PublicKey{cfg.Signer.Public()}, cfg.PastKeys...)...),
		contacts: newContacts(), sends: newSends(), asks: newAsks(), metrics: newMetrics(),
		strangers: rate.NewLimiter(strangerRate, strangerRate), unknowns: rate.NewLimiter(rate.Every(time.Minute), unknownBurst),
	}
}

// Open opens what this hub has signed for a topic.
func (c *Room) Open(topic string, sealed []byte, into any) error {
	return wire.Open(c.own, topic, sealed, into)
}

var _ prometheus.Collector = (*Room)(nil)
