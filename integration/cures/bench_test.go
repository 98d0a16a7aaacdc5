//go:debug x509negativeserial=1

package cures

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent"
	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/integration/memnet"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

const (
	agentID = "rack-a-1"
	server  = "server-1"
)

// bench is an agent and one server behind a simulated BMC, in a bubble.
type bench struct {
	t        *testing.T
	bmc      *sim.BMC
	machine  *hardware.Simulated
	listener atomic.Pointer[memnet.Listener] // of the BMC, since it came back last
	agent    *agent.Agent
	hub      *wire.Signer
	key      *wire.Signer // the agent's
	creds    *credentials
	intent   message.ServerIntent
	holds    []resource.ActiveHold
	frees    []resource.Release
	version  uint64

	mu      sync.Mutex
	receive sync.Mutex // an agent receives one message at a time
	pending sync.WaitGroup
	heads   map[string]protocol.Head
	digests map[string]string
	report  resource.ServerReport
	// seen has the messages of each name that the agent has given.
	seen map[string][]string
	// armed is whether the server was on with the override that was ordered.
	armed bool
}

func signer(name string) *wire.Signer {
	seed := sha256.Sum256([]byte(name))
	return wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
}

// with runs a test of a server behind a BMC that has a claim to be booted from the network.
func with(t *testing.T, p sim.Personality, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{
			t: t, hub: signer("hub"), key: signer("agent"), creds: &credentials{}, heads: map[string]protocol.Head{}, digests: map[string]string{}, seen: map[string][]string{},
			machine: hardware.NewSimulated(hardware.SimulatedConfig{Post: 30 * time.Second, Shutdown: 5 * time.Second}),
		}
		b.creds.set(bmc.Credentials{Username: "admin", Password: "secret"})
		var err error
		b.bmc, err = sim.New(sim.Config{Personality: p, Machine: b.machine, Username: "admin", Password: "secret", Listen: func() (net.Listener, error) {
			l := memnet.Listen("bmc")
			b.listener.Store(l)
			return l, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.bmc.Close() }()
		b.intent = message.ServerIntent{
			Server: server, UID: "uid", Segment: "boot-a", BootMAC: "52:54:00:00:00:01", Architecture: "amd64",
			BMC: message.BMCIntent{Name: server, Address: b.bmc.Address(), CredentialsRef: "local:bmc", Fingerprint: b.bmc.Fingerprint()},
		}
		defer b.start()()
		test(b)
	})
}

func logger() *slog.Logger {
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// start runs the agent until stop is called.
func (b *bench) start() (stop func()) {
	b.t.Helper()
	dialer, err := redfish.New(redfish.Config{Logger: logger(), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.listener.Load().Dial(ctx) }})
	if err != nil {
		b.t.Fatal(err)
	}
	blobs, err := blob.Open(blob.Config{Dir: b.t.TempDir()})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := blobs.Write(b.t.Context(), image.Digest, int64(len(bootFile)), bytes.NewReader(bootFile)); err != nil {
		b.t.Fatal(err)
	}
	disk := statetest.NewMemory()
	b.agent, err = agent.New(agent.Config{
		Agent: agentID, Rack: "rack-a", Version: "test", DB: disk, Blobs: blobs, Signer: b.key, HubKeys: []ed25519.PublicKey{b.hub.Public()},
		Credentials: b.creds, OpenBMC: dialer.Open, Puller: allLocal{}, Clock: time.Now, Random: rand.Reader, Logger: logger(),
		Registerer: prometheus.NewRegistry(), Crash: func(string) {},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.agent.Run(ctx, func() { close(ready) }) }()
	<-ready
	b.agent.Connected(b)
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
		b.pending.Wait()
		_ = disk.Close() // of a Memory: nothing fails
		if err := blobs.Close(); err != nil {
			b.t.Error(err)
		}
	}
}

var (
	bootFile = []byte("MZ a unified kernel image")
	image    = func() resource.Image {
		sum := sha256.Sum256(bootFile)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		return resource.Image{
			Reference: "registry.example/os:1", Architecture: "amd64", Digest: digest,
			Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: int64(len(bootFile))}},
		}
	}()
)

// Publish implements link.Transport: it keeps what is said of the server, and answers as a hub does.
func (b *bench) Publish(topic string, payload []byte) error {
	switch _, _, leaf, _ := message.SplitTopic(topic); leaf {
	case message.LeafReport:
		var m message.Report
		if err := wire.Open(wire.NewVerifier(b.key.Public()), topic, payload, &m); err != nil {
			return err
		}
		for _, r := range m.Servers {
			b.note(r)
		}
	case message.LeafHello:
		var m message.Hello
		if err := wire.Open(wire.NewVerifier(b.key.Public()), topic, payload, &m); err != nil {
			return err
		}
		b.mu.Lock()
		s := message.Sync{
			Session: m.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1, Nonce: "nonce of " + m.Session, ValidFor: message.SyncValid,
			Heads: maps.Clone(b.heads), Digests: maps.Clone(b.digests),
		}
		b.mu.Unlock()
		b.pending.Go(func() { b.deliver(message.LeafSync, s) })
	}
	return nil
}

// note keeps every name that the agent gives to what it finds.
func (b *bench) note(r resource.ServerReport) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report = r
	add := func(name, message string) {
		if !slices.Contains(b.seen[name], message) {
			b.seen[name] = append(b.seen[name], message)
		}
	}
	for _, c := range r.Conditions {
		add(string(c.Code), c.Message)
	}
	if a := r.Attempt; a != nil && a.Code != "" {
		add("attempt "+string(a.Code), a.Reason)
	}
}

// said are the messages of a name.
func (b *bench) said(name string) (messages []string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages, ok = b.seen[name]
	return slices.Clone(messages), ok
}

// told are names with their messages, for people.
func (b *bench) told(names []string) string {
	var out strings.Builder
	for _, n := range names {
		messages, _ := b.said(n)
		fmt.Fprintf(&out, "\n\t%s: %s", n, strings.Join(messages, "\n\t\t"))
	}
	return out.String()
}

// says is the newest report.
func (b *bench) says() resource.ServerReport {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.report
}

// send signs the documents as they stand and gives them to the agent.
func (b *bench) send() {
	b.t.Helper()
	b.version++
	head := protocol.Head{Epoch: 1, Version: b.version}
	b.document(message.LeafHold, head, message.HoldDoc{Head: head, Agent: agentID, Term: 1, IssuedAt: time.Now(), Holds: b.holds, Releases: b.frees})
	b.document(message.LeafRack+"/0", head, message.RackDoc{
		Head: head, Agent: agentID, Term: 1, IssuedAt: time.Now(), Shards: 1, Servers: []message.ServerIntent{b.intent},
		Rack: &message.RackIntent{
			Name: "rack-a", SoftTimeout: 30 * time.Second, SettleWindow: 10 * time.Second, PollInterval: 5 * time.Second, AgentKeys: [][]byte{b.key.Public()},
			Segments: []resource.SegmentIntent{{
				Name: "boot-a", Prefix: netip.MustParsePrefix("10.7.0.0/24"), PoolFrom: netip.MustParseAddr("10.7.0.10"),
				PoolTo: netip.MustParseAddr("10.7.0.99"), Address: netip.MustParseAddr("10.7.0.1"), BaseURL: "http://10.7.0.1:8080", LeaseTime: time.Hour,
			}},
		},
	})
}

func (b *bench) document(leaf string, head protocol.Head, doc any) {
	b.t.Helper()
	raw := b.deliver(leaf, doc)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heads[leaf], b.digests[leaf] = head, wire.Digest(raw)
}

func (b *bench) deliver(leaf string, m any) (raw []byte) {
	topic := message.TopicDown(agentID, leaf)
	raw, err := wire.Seal(b.hub, topic, m)
	if err != nil {
		b.t.Error(err)
		return nil
	}
	b.receive.Lock()
	defer b.receive.Unlock()
	b.agent.Receive(topic, raw)
	return raw
}

// claim wants the server booted from the network by the method, once.
func (b *bench) claim(first resource.FirstBoot, uid string) {
	b.t.Helper()
	in := &b.intent
	in.Owner = message.ServerIntent{}.Owner
	in.Owner.Name, in.Owner.UID, in.Power = "claim", uid, resource.WantOn
	policy := resource.BootPolicy{FirstBoot: first, Boot: resource.BootHdd}
	in.Boot = &message.BootIntent{Owner: resource.Owner{Kind: resource.PurposeClaim, UID: uid}, GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{Image: image, BootPolicy: policy}}}
	grant, err := wire.Seal(b.hub, wire.FactGrant, message.Grant{
		OwnerUID: uid, Generation: 1, Server: server, ServerUID: in.UID, ImageDigest: image.Digest, FirstBoot: first, MaxAttempts: 9, IssuedAt: time.Now(), Purpose: resource.PurposeClaim,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	in.Boot.Grant = grant
	b.send()
}

// installed gives the server a claim whose system is on its disk: it is booted from there.
func (b *bench) installed() {
	b.t.Helper()
	b.claim(resource.FirstBootUefiHTTP, "claim-installed")
	signed, err := wire.Seal(b.key, wire.FactProvisioned, &resource.Provisioned{
		OwnerUID: "claim-installed", Generation: 1, Server: server, ImageDigest: image.Digest, Evidence: protocol.EvidenceInstalled, At: time.Now(),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.intent.Boot.Provisioned = signed
	b.send()
}

// hold puts a hard hold on the server.
func (b *bench) hold(id string) {
	b.t.Helper()
	b.holds = []resource.ActiveHold{{ID: id, HoldSpec: resource.HoldSpec{Server: server, Owner: "o", HoldTerms: resource.HoldTerms{Key: id, Mode: resource.StopHard}}}}
	b.send()
}

// release ends the hold.
func (b *bench) release() {
	b.t.Helper()
	for _, h := range b.holds {
		b.frees = append(b.frees, resource.Release{HoldID: h.ID, Server: h.Server, By: "o", At: time.Now()})
	}
	b.holds = nil
	b.send()
}

// comes looks every second, and says whether something has come to be in time.
func (b *bench) comes(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(time.Second) {
		synctest.Wait()
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// began says whether the machine has come on with the override of the boot that was ordered.
func (b *bench) began() bool {
	if b.says().Attempt != nil && b.machine.State() != hardware.Off && b.bmc.Override().Armed() {
		b.armed = true
	}
	return b.armed
}

func (b *bench) fenced() bool {
	h := b.says().Holds
	return len(h) > 0 && h[0].Word == resource.HoldFenced && b.machine.State() == hardware.Off
}

// names are those that the agent has given.
func (b *bench) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.seen))
}

// credentials is the credentials folder of the agent.
type credentials struct {
	mu    sync.Mutex
	c     bmc.Credentials
	stamp int
}

func (c *credentials) set(to bmc.Credentials) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c = to
	c.stamp++
}

// Read implements account.Local.
func (c *credentials) Read(string) (bmc.Credentials, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.c, string(rune('0' + c.stamp)), nil
}

// allLocal finds every boot file in place already.
type allLocal struct{}

func (allLocal) Pull(context.Context, resource.Image) error { return nil }
