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
	"rackboot/bmc/redfish"
	"rackboot/metrics"
	"rackboot/protocol/link"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// blobMinFree is what boot files leave free: more than the store needs to go on
// recording when the disk is full.
const blobMinFree = 192 << 20

// Run serves the rack until ctx ends. ready is called once all listeners are
// open.
func Run(ctx context.Context, c Config, version string, log *slog.Logger, ready func()) (err error) {
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return err
	}
	reg := prometheus.NewRegistry()
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
	a, err := build(c, id, version, log, reg, db, blobs)
	if err != nil {
		return err
	}
	l, err := dial(id, a, log, reg)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if c.Metrics != "" {
		if err := metrics.Serve(ctx, group, c.Metrics, reg, log); err != nil {
			return err
		}
	}
	group.Go(func() error {
		return a.Run(ctx, func() {
			group.Go(func() error { return l.Run(ctx) })
			ready()
		})
	})
	return group.Wait()
}

func build(c Config, id identity, version string, log *slog.Logger, reg *prometheus.Registry, db *badger.Store, blobs *blob.Store) (*agent.Agent, error) {
	segments, err := c.segments()
	if err != nil {
		return nil, err
	}
	options, err := imageOptions(c.Images)
	if err != nil {
		return nil, err
	}
	dialer, err := redfish.New(redfish.Config{Logger: log, Registerer: reg})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Agent: id.Answer.Agent, Rack: id.Answer.Rack, Version: version, DB: db, Blobs: blobs,
		Signer: wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), HubKeys: []ed25519.PublicKey{id.Answer.HubKey},
		Credentials: credentials{c.CredentialsDir}, OpenBMC: dialer.Open, Puller: puller{blobs, options}, Segments: segments,
		Clock: time.Now, Random: rand.Reader, Logger: log, Registerer: reg,
	})
}

// publishTimeout bounds how long one message may wait to be sent.
const publishTimeout = 5 * time.Second

type transport struct{ link *link.Link }

func (t transport) Publish(topic string, payload []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	return t.link.Publish(ctx, topic, payload)
}

func dial(id identity, a *agent.Agent, log *slog.Logger, reg *prometheus.Registry) (*link.Link, error) {
	tlsConfig, err := id.tls()
	if err != nil {
		return nil, err
	}
	var l *link.Link
	l, err = link.New(link.Config{
		Broker: id.Answer.Broker, TLS: tlsConfig, Subscribe: agent.Subscriptions(id.Answer.Agent),
		OnConnect: func(context.Context) { a.Connected(transport{l}) }, OnMessage: a.Receive, Logger: log, Registerer: reg,
	})
	return l, err
}
