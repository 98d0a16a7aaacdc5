package control

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"rackboot/hub/approvals"
	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/groups"
	"rackboot/hub/images"
	"rackboot/hub/inventory"
	"rackboot/hub/link"
	"rackboot/hub/members"
	"rackboot/hub/reports"
	"rackboot/hub/sealing"
	"rackboot/hub/terms"
	"rackboot/hub/wake"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/approval"
	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is everything that a Control is made of.
type Config struct {
	Store *store.Store
	// Start is this start of the hub.
	Start  *fence.Start
	Signer *wire.Signer
	Images images.Registry
	Issuer members.Issuer
	Vault  sealing.Vault // nil where no Secrets are used
	// Catalogue has the files of boot images; nil where there are none.
	Catalogue images.Files
	// Signatures judges OCI images of entries that want it; nil refuses those.
	Signatures images.Verifier
	// Audit keeps the audit log; nil is none. Trail reads it; nil reads nothing.
	Audit events.Recorder
	Trail groups.Trail
	// ManagedBootImages says that catalogues of boot images are followed where people have
	// opted in; without it every group keeps the image that it has.
	ManagedBootImages bool
	// Version is the hub's own. What a server has booted counts for one version.
	Version string
	// Publish sends to agents. What is lost is sent again.
	Publish func(topic string, payload []byte) error
	// CA is PEM of the broker's CA; Broker the URL that agents dial; QoS that of
	// their link, 0 or 1.
	CA     []byte
	Broker string
	QoS    byte
	// Approvals is who must grant what; Destructive the destructive key, nil without one.
	Approvals   approval.Policy
	Destructive *approval.Key
	// Standing is what agents are told to trust and where to dial.
	Standing api.Standing
	// Fingerprint is that of the certificate by which joining agents know the hub; empty
	// makes tokens without one.
	Fingerprint string
	// CertificateLife is how long an agent's certificate lives; 0 is 90 days.
	CertificateLife time.Duration
	// PastKeys are those that signed before Signer; what they signed and still counts is
	// signed again.
	PastKeys []ed25519.PublicKey
	// Cut ends an agent's connections at the hub's own broker; nil where agents use
	// another one.
	Cut func(agent string) (int, error)

	Clock      state.Clock
	NewID      func() string // ULIDs
	Random     io.Reader
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Control runs the hub's side of the link.
type Control struct {
	cfg       Config
	log       *slog.Logger
	fence     *fence.Start
	began     time.Time
	images    *images.Room
	reports   *reports.Mirror
	Events    *events.Log
	Terms     *terms.Terms
	Link      *link.Room
	Members   *members.Room
	Inventory *inventory.Room
	Env       *env.Room
	grants    *grants.Room
	Groups    *groups.Room
	Approvals *approvals.Room
	wake      *wake.Units

	// sharing is held by the turns of racks together, and alone by what gives servers to claims
	// and to roll-outs: those count what the racks spend.
	sharing sync.RWMutex
	metrics *metrics
	seals   sealing.Count

	firmwareEnds atomic.Int64 // when the next mark of firmware work is over, in ns; 0 if there is none

	conds, unbound, discoveryConds *conditions.Book // by name

}

// New reads the epoch and the events from the store, and makes this start of the hub
// the newest on it.
func New(ctx context.Context, cfg Config) (*Control, error) {
	c := &Control{
		cfg: cfg, log: cfg.Logger, fence: cfg.Start, began: cfg.Clock(), reports: reports.New(), Terms: terms.New(cfg.Store, cfg.Signer, cfg.Logger, cfg.Crash),
		conds: conditions.New(), unbound: conditions.New(), discoveryConds: conditions.New(),
	}
	c.wake = wake.New(wake.Config{Store: cfg.Store, Turn: c.turn, HoldTurn: c.holdTurn, Logger: cfg.Logger})
	var err error
	if c.Events, err = events.Open(ctx, events.Config{Store: cfg.Store, Start: cfg.Start, Audit: cfg.Audit, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash}); err != nil {
		return nil, err
	}
	c.seals = sealing.NewCount()
	c.Link = link.New(link.Config{
		Store: cfg.Store, Start: cfg.Start, Signer: cfg.Signer, PastKeys: cfg.PastKeys, Trust: members.TrustOf(cfg.Standing), Terms: c.Terms, Events: c.Events, Reports: c.reports, Wake: c.wake, Heard: c,
		Publish: cfg.Publish, Clock: cfg.Clock, NewID: cfg.NewID, Random: cfg.Random, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Members = members.New(members.Config{
		Store: cfg.Store, Signer: cfg.Signer, Issuer: cfg.Issuer, Terms: c.Terms, Events: c.Events, Link: c.Link, Wake: c.wake,
		CA: cfg.CA, Broker: cfg.Broker, QoS: cfg.QoS, Destructive: cfg.Destructive, Standing: cfg.Standing, Fingerprint: cfg.Fingerprint,
		CertificateLife: cfg.CertificateLife, Cut: cfg.Cut, Clock: cfg.Clock, NewID: cfg.NewID, Random: cfg.Random, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.grants = grants.New(grants.Config{
		Store: cfg.Store, Signer: cfg.Signer, PastKeys: cfg.PastKeys, Link: c.Link, Events: c.Events,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Inventory = inventory.New(inventory.Config{
		Store: cfg.Store, Link: c.Link, Reports: c.reports, Events: c.Events, Wake: c.wake, Vault: cfg.Vault, Seals: c.seals, Began: c.began,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.images = images.New(images.Config{
		Store: cfg.Store, Registry: cfg.Images, Files: cfg.Catalogue, Verifier: cfg.Signatures, Events: c.Events, Wake: c.wake, Clock: cfg.Clock, Crash: cfg.Crash,
	})
	c.Env = env.New(env.Config{
		Store: cfg.Store, Vault: cfg.Vault, Seals: c.seals, Images: c.images, Terms: c.Terms, Link: c.Link, Events: c.Events, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	if c.Groups, err = groups.New(ctx, groups.Config{
		Store: cfg.Store, Images: c.images, Env: c.Env, Grants: c.grants, Inventory: c.Inventory, Reports: c.reports, Events: c.Events, Wake: c.wake,
		Trail: cfg.Trail, ManagedBootImages: cfg.ManagedBootImages, Version: cfg.Version, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	}); err != nil {
		return nil, err
	}
	c.Approvals = approvals.New(approvals.Config{
		Store: cfg.Store, Policy: cfg.Approvals, Destructive: cfg.Destructive, Link: c.Link, Groups: c.Groups, Reports: c.reports, Events: c.Events, Wake: c.wake,
		Began: c.began, Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.metrics = newMetrics(c)
	cfg.Registerer.MustRegister(c.metrics, c.Link, c.Events, c.Members, c.wake, c.images, c.seals, c.Env, c.Groups)
	return c, nil
}

// tickPause is how often it is looked at what is due.
const tickPause = time.Second

// Run works until ctx ends.
func (c *Control) Run(ctx context.Context) error {
	deltas, stop := c.cfg.Store.Deltas()
	defer stop()
	var lanes sync.WaitGroup
	for _, lane := range []func(context.Context){
		c.images.Run, c.wake.Racks.Run, c.wake.Holds.Run, c.wake.Sweep,
		func(ctx context.Context) { c.wake.Follow(ctx, deltas) },
	} {
		lanes.Go(func() { lane(ctx) })
	}
	c.wake.All()
	tick := time.NewTicker(tickPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			lanes.Wait()
			return nil
		case <-tick.C:
			c.tick()
		}
	}
}

// tick sends what is due.
func (c *Control) tick() {
	if c.fence.Overtaken() {
		return
	}
	now := c.cfg.Clock()
	c.Link.Tick(now)
	c.Inventory.Read(now)
	c.firmwareDue(now)
	c.Approvals.Due(now)
	c.Groups.Due(now)
}
