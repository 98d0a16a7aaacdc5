package members

import (
	"context"
	"io"
	"log/slog"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/hub/wake"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Issuer signs the certificate of an agent's link.
type Issuer interface {
	IssueAgent(csr []byte, agent string, validity time.Duration) ([]byte, error)
}

// Config is what a Room is made of.
type Config struct {
	Ledgers *store.Ledgers
	Meta    *store.Meta
	Objects *store.Objects
	Signer  *wire.Signer
	Issuer  Issuer
	Terms   *terms.Terms
	Events  *events.Log
	Link    *link.Room
	Wake    *wake.Units
	// CA is PEM of the broker's CA; Broker the URL that agents dial; QoS that of their link, 0 or 1.
	CA     []byte
	Broker string
	QoS    byte
	// Destructive is the destructive key, which agents that join pin; nil without one.
	Destructive *approval.Key
	// Standing is what agents are told to trust and where to dial.
	Standing api.Standing
	// Fingerprint is that of the certificate by which joining agents know the hub; empty makes tokens without one.
	Fingerprint string
	// CertificateLife is how long an agent's certificate lives; 0 is 90 days.
	CertificateLife time.Duration
	// Heard is an agent's last report, without servers, and when it came; false where none has in this run.
	Heard func(agent string) (last message.Report, at time.Time, ok bool)
	// Adopt takes over holds that an agent says it enforces on a server.
	Adopt func(ctx context.Context, a *resource.Agent, s resource.ServerReport) error
	// Left forgets what an agent said that serves its rack no more.
	Left func(rack, agent string)
	// Cut ends an agent's connections at the hub's own broker; nil where agents use another one.
	Cut func(agent string) (int, error)

	Clock  state.Clock
	NewID  func() string // ULIDs
	Random io.Reader
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the agents of all racks. It is safe for concurrent use, and keeps nothing but the store.
type Room struct {
	cfg Config
	metrics
}

// New makes a Room.
func New(cfg Config) *Room {
	if cfg.CertificateLife == 0 {
		cfg.CertificateLife = certificateLife
	}
	return &Room{cfg: cfg, metrics: newMetrics()}
}
