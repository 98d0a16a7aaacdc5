//go:build host

package alone

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent"
	"rackboot/agent/secret"
	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

const (
	agentID    = "rack-a-1"
	serverName = "server-1"
)

// rackConfig is what the agent's child is told.
type rackConfig struct {
	Dir   string
	BMC   machineAt
	Image string // reference; empty claims nothing
	Boot  resource.FirstBoot
	// Known are the MAC addresses of other servers, without BMCs that answer.
	Known            []string
	PoolFrom, PoolTo netip.Addr
	// Way is how user data comes to the claimed server; empty has none. Through its BMC, the
	// record wants observed evidence.
	Way resource.SecretsWay
	// UUID is what the hub knows of the claimed server, and of the known ones too.
	UUID string
}

// vitals are what the agent says of itself.
type vitals struct {
	Heap       uint64 // bytes in use after a collection, stacks included
	Goroutines int
	Metrics    map[string]float64 // counters and gauges, "name{a,b}" by label values
}

// rack is the agent with a hub that lets it do everything, and goes away when it is
// told to.
type rack struct {
	config  rackConfig
	agent   *agent.Agent
	key     ed25519.PrivateKey
	hub     *wire.Signer
	metrics *prometheus.Registry
	given   chan packet
	gone    chan struct{}

	mu   sync.Mutex
	last message.Report
	body []byte // of the claimed server, sealed
}

type packet struct {
	leaf string
	v    any
}

// Publish implements link.Transport: the hub answers a Hello.
func (r *rack) Publish(topic string, payload []byte) error {
	if err := r.reported(topic, payload); err != nil {
		return err
	}
	var m message.Hello
	if strings.HasSuffix(topic, "/"+message.LeafHello) && wire.Open(wire.NewVerifier(wire.NewSigner(r.key).Public()), topic, payload, &m) == nil {
		select {
		case <-r.gone:
		case r.given <- packet{message.LeafSync, message.Sync{
			Session: m.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1,
			Heads: m.Applied, Digests: m.Digests, Nonce: "nonce of " + m.Session, ValidFor: message.SyncValid,
		}}:
		}
	}
	return nil
}

// receive gives the agent what the hub says, one after another.
func (r *rack) receive() error {
	for m := range r.given {
		topic := message.TopicDown(agentID, m.leaf)
		raw, err := wire.Seal(r.hub, topic, m.v)
		if err != nil {
			return err
		}
		r.agent.Receive(topic, raw)
	}
	return nil
}

// accounts implements account.Local.
type accounts struct{}

func (accounts) Read(string) (bmc.Credentials, string, error) {
	return bmc.Credentials{Username: bmcUser, Password: bmcPassword}, "1", nil
}

// puller brings images from the registry into the blob store.
type puller struct {
	blobs   *blob.Store
	options image.Options
}

// Pull implements files.Puller.
func (p puller) Pull(ctx context.Context, img resource.Image) error {
	ref, err := image.Pin(img)
	if err != nil {
		return err
	}
	return image.Pull(ctx, ref, img.Artefacts, p.blobs, p.options)
}

// document is what the servers shall be.
func (r *rack) document(ctx context.Context, o image.Options) (d message.RackDoc, err error) {
	d = message.RackDoc{Head: protocol.Head{Epoch: 1, Version: 1}, Agent: agentID, Term: 1, IssuedAt: time.Now(), Shards: 1, Rack: &message.RackIntent{
		Name: "rack-a", SoftTimeout: time.Second, SettleWindow: time.Second, PollInterval: 200 * time.Millisecond,
		AgentKeys: [][]byte{wire.NewSigner(r.key).Public()}, Segments: r.segments(),
	}}
	entry := func(name, mac string) message.ServerIntent {
		return message.ServerIntent{
			Server: name, UID: "uid-" + name, Segment: "boot", BootMAC: mac, UUID: r.config.UUID, Architecture: "amd64",
			BMC: message.BMCIntent{Name: name, Address: r.config.BMC.Address, CredentialsRef: "local:bmc", Fingerprint: r.config.BMC.Fingerprint},
		}
	}
	in := entry(serverName, bootMAC)
	if r.config.Image != "" {
		img, err := image.Resolve(ctx, r.config.Image, "amd64", o)
		if err != nil {
			return d, err
		}
		in.Owner.Name, in.Owner.UID, in.Power = "claim", "claim-uid", resource.WantOn
		in.Boot = &message.BootIntent{
			Owner:       resource.Owner{Kind: resource.PurposeClaim, UID: in.Owner.UID},
			GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{Image: img, BootPolicy: resource.BootPolicy{FirstBoot: r.config.Boot, Boot: resource.BootHdd}}},
		}
		if in.Boot.Grant, err = wire.Seal(r.hub, wire.FactGrant, message.Grant{
			OwnerUID: in.Owner.UID, Generation: 1, Server: in.Server, ServerUID: in.UID, ImageDigest: img.Digest,
			FirstBoot: r.config.Boot, MaxAttempts: 3, IssuedAt: time.Now(),
		}); err != nil {
			return d, err
		}
		if err := r.secrets(&in); err != nil {
			return d, err
		}
	}
	d.Servers = append(d.Servers, in)
	for i, mac := range r.config.Known {
		known := entry(fmt.Sprintf("known-%d", i+1), mac)
		known.SystemURI = "/redfish/v1/Systems/none" // one BMC is enough
		d.Servers = append(d.Servers, known)
	}
	return d, nil
}

// runAgent is the child with the agent.
func runAgent() (err error) {
	c, err := config[rackConfig]()
	if err != nil {
		return err
	}
	_, hubKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	r := &rack{config: c, hub: wire.NewSigner(hubKey), metrics: prometheus.NewRegistry(), given: make(chan packet, 64), gone: make(chan struct{})}
	if _, r.key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return err
	}
	db, err := badger.Open(badger.Config{Dir: c.Dir + "/state"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	blobs, err := blob.Open(blob.Config{Dir: c.Dir + "/blobs"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	sealKey, err := sealbox.ParseKey(r.key.Seed()) // any 32 bytes are an X25519 key
	if err != nil {
		return err
	}
	keeper, err := secret.New(agentID, sealKey)
	if err != nil {
		return err
	}
	sessions := store.NewSessions(db, keeper)
	dialer, err := redfish.New(redfish.Config{Logger: log, Sessions: sessions})
	if err != nil {
		return err
	}
	options := image.Options{PlainHTTP: []string{registryAddress}}
	r.agent, err = agent.New(agent.Config{
		Agent: agentID, Rack: "rack-a", Version: "test", DB: db, Blobs: blobs, Signer: wire.NewSigner(r.key), HubKeys: []ed25519.PublicKey{r.hub.Public()},
		Credentials: accounts{}, Secrets: keeper, OpenBMC: dialer.Open, Sessions: sessions, Puller: puller{blobs, options},
		Segments: listeners(c), UserData: r,
		Clock: time.Now, Random: rand.Reader, Logger: log, Registerer: r.metrics,
	})
	if err != nil {
		return err
	}
	return r.run(options)
}

func (r *rack) run(o image.Options) error {
	ctx, cancel := context.WithCancel(context.Background())
	done, heard := make(chan error, 1), make(chan error, 1)
	ready := make(chan struct{})
	go func() { done <- r.agent.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		return err
	}
	go func() { heard <- r.receive() }()
	r.agent.Connected(r)
	doc, err := r.document(ctx, o)
	if err == nil {
		r.given <- packet{message.LeafRack + "/0", doc}
		err = speak("ready")
	}
	if err == nil {
		err = listen(r.obey)
	}
	select {
	case <-r.gone:
	default:
		close(r.gone)
	}
	cancel()
	err = errors.Join(err, <-done)
	close(r.given) // the agent sends nothing any more
	return errors.Join(err, <-heard)
}

func (r *rack) obey(word string) error {
	switch word {
	case "alone":
		close(r.gone)
		return speak("alone")
	case "vitals":
		v, err := r.vitals()
		return errors.Join(err, speak(v))
	case "state":
		v, err := r.state()
		return errors.Join(err, speak(v))
	}
	return fmt.Errorf("told %q", word)
}

func (r *rack) vitals() (v vitals, err error) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	v.Heap, v.Goroutines, v.Metrics = m.HeapAlloc+m.StackInuse, runtime.NumGoroutine(), map[string]float64{}
	families, err := r.metrics.Gather()
	for _, f := range families {
		for _, one := range f.GetMetric() {
			var labels []string
			for _, l := range one.GetLabel() {
				if l.GetName() != "segment" {
					labels = append(labels, l.GetValue())
				}
			}
			v.Metrics[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
		}
	}
	return v, err
}
