package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent"
	"rackboot/agent/secret"
	"rackboot/agent/store"
	"rackboot/bmc/redfish"
	"rackboot/fdlimit"
	"rackboot/internal/metrics"
	"rackboot/netboot/bootcert"
	"rackboot/netboot/mirror"
	"rackboot/protocol/wire"
	"rackboot/ready"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/blob"
	"rackboot/state/clock"
	"rackboot/state/file"
)

// blobMinFree is what boot files leave free: more than the store needs to go on
// recording when the disk is full.
const blobMinFree = 192 << 20

// Options are what Run takes besides the file.
type Options struct {
	Version string
	Logger  *slog.Logger
	// Registry takes the metrics; nil is a new one.
	Registry metrics.Registry
	// MaxBackoff bounds the pause between two connections to the hub; 0 is the
	// link's default.
	MaxBackoff time.Duration
	// LookEvery bounds the time between two looks at certificate and keys; 0 is a minute.
	LookEvery time.Duration
	// Clock is nil for the host's.
	Clock state.Clock
	// Crash is nil in production.
	Crash state.Crasher
	// Ready is called once all listeners are open.
	Ready func()
}

// Run serves the rack until ctx ends.
func Run(ctx context.Context, c Config, o Options) (err error) {
	log, reg := o.Logger, o.Registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	if o.Clock == nil {
		o.Clock = clock.Now
	}
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return err
	}
	floor := openFloor(c.DataDir, o.Clock, builtAt(), o.Crash)
	if err := floor.damage(); err != nil {
		log.Error("the agent's time is damaged, and is taken from its other sources", "err", err)
	}
	keep := &keeper{dataDir: c.DataDir, clock: o.Clock, crash: o.Crash, floor: floor, id: id}
	r := &renewer{keep: keep, apis: c.Link.API, log: log, metrics: newRenewMetrics(reg), every: o.LookEvery, news: make(chan string, 1)}
	if r.every == 0 {
		r.every = lookEvery
	}
	db, err := badger.Open(badger.Config{Dir: c.path("state"), Logger: log, Registerer: reg})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := file.Sweep(c.path("identity")); err != nil {
		return err
	}
	blobs, err := blob.Open(blob.Config{
		Dir: c.path("blobs"), Quota: c.Images.QuotaMiB << 20, MinFree: blobMinFree, Logger: log, Registerer: reg,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	var a *agent.Agent
	certificates, err := c.certificates(func() []string { return a.BootHosts() }, log, reg)
	if err != nil {
		return err
	}
	repositories, err := c.Repositories.open(&c, log, reg)
	if err != nil {
		return err
	}
	if repositories != nil {
		defer func() { err = errors.Join(err, repositories.Close()) }()
	}
	if a, err = build(c, id, keep, r.hear, o.Version, log, reg, db, blobs, certificates, repositories); err != nil {
		return err
	}
	fresh, err := a.Fresh()
	if err != nil {
		return err
	}
	l, err := c.Link.dial(keep, a, fresh, o.MaxBackoff, log, reg)
	if err != nil {
		return err
	}
	r.agent, r.up = a, l.Connected
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return fdlimit.Watch(ctx, log, reg) })
	if c.Metrics != "" {
		written, err := ready.New(ready.Config{Logger: log, Registerer: reg, Probe: func(ctx context.Context) error {
			return store.Probe(ctx, db, clock.Now())
		}})
		if err != nil {
			return err
		}
		if err := metrics.Serve(ctx, group, c.Metrics, reg, written.Ready, log); err != nil {
			return err
		}
	}
	if certificates != nil {
		group.Go(func() error { return certificates.Run(ctx) })
	}
	if repositories != nil {
		group.Go(func() error { return repositories.Run(ctx) })
	}
	group.Go(func() error {
		return a.Run(ctx, func() {
			group.Go(func() error { return l.Run(ctx) })
			group.Go(func() error { return r.run(ctx) })
			o.Ready()
		})
	})
	return group.Wait()
}

func build(c Config, id identity, keep *keeper, news func(trust string), version string, log *slog.Logger, reg metrics.Registry, db *badger.Store, blobs *blob.Store, certificates *bootcert.Store, repositories *mirror.Mirror) (*agent.Agent, error) {
	segments, err := c.segments()
	if err != nil {
		return nil, err
	}
	beats, err := c.beats()
	if err != nil {
		return nil, err
	}
	options, err := c.Images.options(c.CredentialsDir, reg)
	if err != nil {
		return nil, err
	}
	key, err := sealKey(c.DataDir)
	if err != nil {
		return nil, err
	}
	keeper, err := secret.New(id.Answer.Agent, key)
	if err != nil {
		return nil, err
	}
	sessions := store.NewSessions(db, keeper)
	dialer, err := redfish.New(redfish.Config{Logger: log, Registerer: reg, Sessions: sessions})
	if err != nil {
		return nil, err
	}
	destructive, err := c.destructive(id)
	if err != nil {
		return nil, err
	}
	cfg := agent.Config{
		Agent: id.Answer.Agent, Rack: id.Answer.Rack, Standby: id.standby(), Beats: beats, Version: version, DB: db, Blobs: blobs, Place: placeOf(c.DataDir), Host: hostName(), Addresses: hostAddresses(),
		Signer: wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), HubKeys: []ed25519.PublicKey{id.Keys.Everyday}, Destructive: destructive, News: news,
		Credentials: credentials{c.CredentialsDir}, Secrets: keeper, OpenBMC: dialer.Open, Sessions: sessions, Puller: puller{blobs, options, keep}, UserData: hubAPI{keep, c.Link.API}, Bundles: hubAPI{keep, c.Link.API},
		ISOSource: isoSource{keep, c.Link.API}, ISOs: c.ISOs.limits(), Files: c.Files, Mirror: repositories, Segments: segments, Loaders: c.Loaders, Socket: c.LocalSocket(),
		Clock: clock.Now, Random: rand.Reader, Logger: log, Registerer: reg,
	}
	if certificates != nil {
		cfg.Certificates = certificates
	}
	return agent.New(cfg)
}
