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
	"rackboot/agent/store"
	"rackboot/bmc/redfish"
	"rackboot/metrics"
	"rackboot/netboot/bootcert"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/blob"
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
	// Ready is called once all listeners are open.
	Ready func()
}

// Run serves the rack until ctx ends.
func Run(ctx context.Context, c Config, o Options) (err error) {
	log, reg := o.Logger, o.Registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return err
	}
	db, err := badger.Open(badger.Config{Dir: c.path("state"), Logger: log, Registerer: reg})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
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
	if a, err = build(c, id, o.Version, log, reg, db, blobs, certificates); err != nil {
		return err
	}
	l, err := c.Link.dial(id, a, o.MaxBackoff, log, reg)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if c.Metrics != "" {
		if err := metrics.Serve(ctx, group, c.Metrics, reg, log); err != nil {
			return err
		}
	}
	if certificates != nil {
		group.Go(func() error { return certificates.Run(ctx) })
	}
	group.Go(func() error {
		return a.Run(ctx, func() {
			group.Go(func() error { return l.Run(ctx) })
			o.Ready()
		})
	})
	return group.Wait()
}

func build(c Config, id identity, version string, log *slog.Logger, reg metrics.Registry, db *badger.Store, blobs *blob.Store, certificates *bootcert.Store) (*agent.Agent, error) {
	segments, err := c.segments()
	if err != nil {
		return nil, err
	}
	options, err := imageOptions(c.Images)
	if err != nil {
		return nil, err
	}
	sessions := store.NewSessions(db)
	dialer, err := redfish.New(redfish.Config{Logger: log, Registerer: reg, Sessions: sessions})
	if err != nil {
		return nil, err
	}
	cfg := agent.Config{
		Agent: id.Answer.Agent, Rack: id.Answer.Rack, Version: version, DB: db, Blobs: blobs,
		Signer: wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), HubKeys: []ed25519.PublicKey{id.Answer.HubKey},
		Credentials: credentials{c.CredentialsDir}, OpenBMC: dialer.Open, Sessions: sessions, Puller: puller{blobs, options}, Segments: segments, Socket: c.LocalSocket(),
		Clock: time.Now, Random: rand.Reader, Logger: log, Registerer: reg,
	}
	if certificates != nil {
		cfg.Certificates = certificates
	}
	return agent.New(cfg)
}
