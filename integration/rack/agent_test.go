package rack

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent"
	"rackboot/agent/boot"
	"rackboot/agent/files"
	"rackboot/agent/local"
	agentsecret "rackboot/agent/secret"
	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/integration/sim"
	"rackboot/netboot"
	"rackboot/netboot/image"
	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// setup is what an agent is started with. Its exported part travels to a child
// process.
type setup struct {
	Dir            string
	Key            ed25519.PrivateKey
	Hub            ed25519.PublicKey
	DHCP, HTTP     netip.AddrPort
	TFTP           netip.AddrPort // none if zero
	HTTPS          netip.AddrPort // none if zero
	DHCP6, HTTP6   netip.AddrPort // none if zero
	Socket         string         // of the agent's own API; empty is none
	Quota, MinFree int64
	Loaders        map[string][]string
	Destructive    agent.Destructive
	Trial          time.Duration // of changed segments; 0 is the agent's own
	TrustedMedia   bool
	UserData       map[string][]byte // that is sealed, by digest, where userData is nil

	Files    string  // a folder of the site; empty is none
	Uploaded uploads // files at the hub

	Upgrades agent.Upgrades

	Collector string // of spans, its URL; empty is none

	certs       netboot.Certificates // of HTTPS
	mirror      *mirror.Mirror
	userData    files.UserData
	credentials *credentials
	calls       *calls
	found       func(ctx context.Context, network, address string) (net.Conn, error)
	metrics     *prometheus.Registry
	crash       state.Crasher
	log         *slog.Logger
	reportEvery time.Duration // 0 is the agent's default
	ahead       *atomic.Int64 // of the agent's clock, in ns; nil is not
}

// clock is the agent's.
func (s setup) clock() time.Time {
	if s.ahead == nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(s.ahead.Load()))
}

// process is a running agent.
type process struct {
	agent  *agent.Agent
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
	close  func() error
}

func startAgent(s setup) (*process, error) {
	for _, at := range []netip.AddrPort{s.DHCP, s.HTTP, s.HTTPS, s.TFTP, s.DHCP6, s.HTTP6} {
		if !at.IsValid() {
			continue
		}
		if err := sim.AwaitFree(context.Background(), at); err != nil {
			return nil, err
		}
	}
	if s.userData == nil {
		s.userData = &userDataHub{bodies: s.UserData}
	}
	db, err := badger.Open(badger.Config{Dir: s.Dir + "/state", MinFree: s.MinFree})
	if err != nil {
		return nil, err
	}
	blobs, err := blob.Open(blob.Config{Dir: s.Dir + "/blobs", Quota: s.Quota})
	if err != nil {
		return nil, err
	}
	sealKey, err := sealbox.ParseKey(s.Key.Seed()) // any 32 bytes are an X25519 key
	if err != nil {
		return nil, err
	}
	keeper, err := agentsecret.New(agentID, sealKey)
	if err != nil {
		return nil, err
	}
	sessions := store.NewSessions(db, keeper)
	dialer, err := redfish.New(redfish.Config{Logger: s.log, Sessions: sessions})
	if err != nil {
		return nil, err
	}
	if s.metrics == nil {
		s.metrics = prometheus.NewRegistry()
	}
	bundles, _ := s.userData.(files.Bundles)
	spans, flush, err := s.spans()
	if err != nil {
		return nil, err
	}
	a, err := agent.New(agent.Config{
		Agent: agentID, Rack: "rack-a", Version: "test", DB: db, Blobs: blobs, Signer: wire.NewSigner(s.Key),
		HubKeys: []ed25519.PublicKey{s.Hub}, Destructive: s.Destructive, Credentials: s.credentials, Secrets: keeper, OpenBMC: s.calls.opener(dialer.Open), Sessions: sessions, DialFound: s.found, Puller: puller{blobs}, UserData: s.userData, Bundles: bundles, ISOSource: s.Uploaded, Files: s.Files, Mirror: s.mirror, Certificates: s.certs, Spans: spans,
		Segments: []boot.LocalSegment{{Name: "boot-a", DHCP: s.DHCP, HTTP: s.HTTP, HTTPS: s.HTTPS, TFTP: s.TFTP, DHCP6: s.DHCP6, HTTP6: s.HTTP6, TrustedMedia: s.TrustedMedia}}, Loaders: s.Loaders, Socket: local.Socket{Path: s.Socket},
		Clock: s.clock, Random: rand.Reader, Logger: s.log, Registerer: s.metrics, Crash: s.crash, TrialWindow: s.Trial, Upgrades: s.Upgrades, ReportEvery: s.reportEvery,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{agent: a, cancel: cancel, done: make(chan error, 1), close: func() error { flush(); return errors.Join(db.Close(), blobs.Close()) }}
	ready := make(chan struct{})
	go func() { p.done <- a.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
		return p, nil
	case err := <-p.done:
		cancel()
		return nil, errors.Join(err, p.close())
	}
}

// stop ends the agent as a signal would.
func (p *process) stop() (err error) {
	p.once.Do(func() {
		p.cancel()
		err = errors.Join(<-p.done, p.close())
	})
	return err
}

// credentials is the credentials folder of an agent.
type credentials struct {
	mu    sync.Mutex
	c     bmc.Credentials
	err   error
	stamp int
	read  int
}

// looks is how often they were read.
func (c *credentials) looks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}

func (c *credentials) set(to bmc.Credentials, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c, c.err = to, err
	c.stamp++
}

// Read implements account.Local.
func (c *credentials) Read(string) (bmc.Credentials, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read++
	return c.c, string(rune('0' + c.stamp)), c.err
}

// calls counts reads that went to a driver. Drivers only drive, without inventories
// and events, unless they are whole.
type calls struct {
	observed atomic.Int64
	whole    atomic.Bool
	dead     atomic.Bool // nothing is closed, as by an agent that was killed
}

func (c *calls) opener(open bmc.Opener) bmc.Opener {
	return func(t bmc.Target) (bmc.Driver, error) {
		d, err := open(t)
		if err == nil && c.whole.Load() {
			return struct {
				counted
				bmc.Lister
				bmc.Inventorier
				bmc.Prober
				bmc.FirmwareReader
				bmc.FirmwareWriter
				bmc.EventSource
				bmc.Subscriber
				bmc.RestorePolicer
				bmc.Accounts
				bmc.MediaDriver
				bmc.URIBooter
			}{counted{d, c}, d.(bmc.Lister), d.(bmc.Inventorier), d.(bmc.Prober), d.(bmc.FirmwareReader), d.(bmc.FirmwareWriter), d.(bmc.EventSource), d.(bmc.Subscriber), d.(bmc.RestorePolicer), d.(bmc.Accounts), d.(bmc.MediaDriver), d.(bmc.URIBooter)}, nil
		}
		if err != nil {
			return nil, err
		}
		return struct {
			counted
			bmc.FirmwareReader
			bmc.FirmwareWriter
			bmc.MediaDriver
			bmc.URIBooter
		}{counted{d, c}, d.(bmc.FirmwareReader), d.(bmc.FirmwareWriter), d.(bmc.MediaDriver), d.(bmc.URIBooter)}, nil
	}
}

type counted struct {
	bmc.Driver
	calls *calls
}

// Observe implements bmc.Driver.
func (c counted) Observe(ctx context.Context) (protocol.Observation, error) {
	c.calls.observed.Add(1)
	return c.Driver.Observe(ctx)
}

// Close implements bmc.Driver.
func (c counted) Close() error {
	if c.calls.dead.Load() {
		return nil
	}
	return c.Driver.Close()
}

// puller brings images from registries into the blob store.
type puller struct{ blobs *blob.Store }

// Pull implements files.Puller.
func (p puller) Pull(ctx context.Context, img resource.Image) error {
	ref, err := image.Pin(img)
	if err != nil {
		return err
	}
	return image.Pull(ctx, ref, img.Artefacts, p.blobs, image.Options{})
}
