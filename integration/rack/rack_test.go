package rack

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent"
	"rackboot/bmc"
	bmcsim "rackboot/bmc/sim"

	"rackboot/bmc/redfish"
	"rackboot/integration/sim"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// bench is an agent's surroundings: servers, a registry and a hub's key. The
// agent itself may be started and stopped over them.
type bench struct {
	t       *testing.T
	log     *slog.Logger
	hub     *wire.Signer
	key     ed25519.PrivateKey // the agent's
	servers []*sim.Server
	reg     *sim.Registry
	image   protocol.Image
	dhcp    netip.AddrPort
	http    netip.AddrPort
	dir     string

	mu      sync.Mutex
	up      map[string][]byte // newest message by leaf
	version uint64
	intents []protocol.ServerIntent
	holds   []protocol.ActiveHold
	frees   []protocol.Release
	asks    []protocol.Request
}

const agentID = "rack-a-1"

func newBench(t *testing.T, servers int, personality bmcsim.Personality) *bench {
	t.Helper()
	b := &bench{t: t, up: map[string][]byte{}, dir: t.TempDir(), log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		b.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	_, hubKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b.hub = wire.NewSigner(hubKey)
	if _, b.key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	if b.reg, err = sim.StartRegistry("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.reg.Close() })
	b.dhcp, b.http = freePort(t, "udp"), freePort(t, "tcp")
	for i := range servers {
		s, err := sim.StartServer(sim.ServerConfig{
			Name: fmt.Sprintf("server-%d", i+1), MAC: fmt.Sprintf("52:54:00:00:00:%02x", i+1), Username: "admin", Password: "secret",
			Personality: personality, DHCP: net.UDPAddrFromAddrPort(b.dhcp), Speed: 100,
			Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: b.log,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		b.servers = append(b.servers, s)
	}
	ref, err := b.reg.Push("demo/os:1", bytes.Repeat([]byte("MZ unified kernel image "), 4096))
	if err != nil {
		t.Fatal(err)
	}
	if b.image, err = image.Resolve(t.Context(), ref, "amd64", image.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.servers {
		b.intents = append(b.intents, protocol.ServerIntent{
			Server: s.Name, UID: "uid-" + s.Name, Segment: "boot-a", BootMAC: s.MAC, Architecture: "amd64",
			BMC: protocol.BMCIntent{Name: s.Name, Address: s.BMC.Address(), CredentialsRef: "local:bmc", Fingerprint: s.BMC.Fingerprint()},
		})
	}
	return b
}

func freePort(t *testing.T, network string) netip.AddrPort {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return netip.MustParseAddrPort(c.LocalAddr().String())
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String())
}

type fixedCredentials struct{}

func (fixedCredentials) Read(string) (bmc.Credentials, string, error) {
	return bmc.Credentials{Username: "admin", Password: "secret"}, "1", nil
}

type puller struct{ blobs *blob.Store }

func (p puller) Pull(ctx context.Context, img protocol.Image) error {
	ref, err := image.Pin(img)
	if err != nil {
		return err
	}
	return image.Pull(ctx, ref, img.Artefacts, p.blobs, image.Options{})
}

// Publish implements agent.Transport: it keeps the newest of each leaf.
func (b *bench) Publish(topic string, payload []byte) error {
	_, _, leaf, _ := protocol.SplitTopic(topic)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up[leaf] = payload
	return nil
}

// start runs an agent on the bench's folder until stop is called.
func (b *bench) start(crash state.Crasher) (a *agent.Agent, stop func()) {
	b.t.Helper()
	db, err := badger.Open(badger.Config{Dir: b.dir + "/state"})
	if err != nil {
		b.t.Fatal(err)
	}
	blobs, err := blob.Open(blob.Config{Dir: b.dir + "/blobs"})
	if err != nil {
		b.t.Fatal(err)
	}
	dialer, err := redfish.New(redfish.Config{Logger: b.log})
	if err != nil {
		b.t.Fatal(err)
	}
	a, err = agent.New(agent.Config{
		Agent: agentID, Rack: "rack-a", Version: "test", DB: db, Blobs: blobs, Signer: wire.NewSigner(b.key),
		HubKeys: []ed25519.PublicKey{b.hub.Public()}, Credentials: fixedCredentials{}, OpenBMC: dialer.Open, Puller: puller{blobs},
		Segments: []agent.LocalSegment{{Name: "boot-a", DHCP: b.dhcp, HTTP: b.http}},
		Clock:    time.Now, Random: rand.Reader, Logger: b.log, Registerer: prometheus.NewRegistry(), Crash: crash,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ready := make(chan struct{})
	go func() { done <- a.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-done:
		b.t.Fatalf("the agent did not start: %v", err)
	}
	a.Connected(b)
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				b.t.Errorf("agent: %v", err)
			}
			if err := db.Close(); err != nil {
				b.t.Errorf("store: %v", err)
			}
			_ = blobs.Close()
		})
	}
	b.t.Cleanup(stop)
	return a, stop
}

func (b *bench) segment() protocol.SegmentIntent {
	return protocol.SegmentIntent{
		Name: "boot-a", Prefix: netip.MustParsePrefix("127.0.0.0/8"), PoolFrom: netip.MustParseAddr("127.77.0.10"),
		PoolTo: netip.MustParseAddr("127.77.0.99"), Address: netip.MustParseAddr("127.0.0.1"),
		BaseURL: "http://" + b.http.String(), LeaseTime: time.Hour,
	}
}

// send signs the bench's documents as they stand and gives them to the agent.
func (b *bench) send(a *agent.Agent) {
	b.t.Helper()
	b.version++
	head := protocol.Head{Epoch: 1, Version: b.version}
	b.deliver(a, protocol.LeafHold, protocol.HoldDoc{Head: head, Agent: agentID, Term: 1, Holds: b.holds, Releases: b.frees, Requests: b.asks})
	b.deliver(a, protocol.LeafRack+"/0", protocol.RackDoc{
		Head: head, Agent: agentID, Term: 1, Shards: 1, Servers: b.intents,
		Rack: &protocol.RackIntent{
			Name: "rack-a", SoftTimeout: 2 * time.Second, SettleWindow: 300 * time.Millisecond, PollInterval: 100 * time.Millisecond,
			Segments: []protocol.SegmentIntent{b.segment()}, AgentKeys: [][]byte{wire.NewSigner(b.key).Public()},
		},
	})
}

func (b *bench) deliver(a *agent.Agent, leaf string, msg any) {
	b.t.Helper()
	topic := protocol.TopicDown(agentID, leaf)
	data, err := wire.Seal(b.hub, topic, msg)
	if err != nil {
		b.t.Fatal(err)
	}
	a.Receive(topic, data)
}

// claim claims server i with a grant for the bench's image.
func (b *bench) claim(i int) {
	b.t.Helper()
	in := &b.intents[i]
	in.Claim, in.ClaimUID, in.Power = "claim", "claim-uid", protocol.WantOn
	policy := protocol.BootPolicy{FirstBoot: protocol.FirstBootUefiHTTP, Boot: protocol.BootHdd}
	grant, err := wire.Seal(b.hub, wire.FactGrant, protocol.Grant{
		ClaimUID: in.ClaimUID, Generation: 1, Server: in.Server, ServerUID: in.UID, ImageDigest: b.image.Digest,
		FirstBoot: policy.FirstBoot, MaxAttempts: 3, IssuedAt: time.Now(),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	in.Boot = &protocol.BootIntent{Purpose: protocol.PurposeClaim, ClaimUID: in.ClaimUID, Generation: 1, Image: b.image, Policy: policy, Grant: grant}
}

// report is the newest report of server i.
func (b *bench) report(i int) (r protocol.ServerReport, ok bool) {
	b.mu.Lock()
	raw := b.up[protocol.LeafReport]
	b.mu.Unlock()
	if raw == nil {
		return r, false
	}
	var m protocol.Report
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), protocol.TopicUp(agentID, protocol.LeafReport), raw, &m); err != nil {
		b.t.Fatal(err)
	}
	for _, s := range m.Servers {
		if s.Server == b.servers[i].Name {
			return s, true
		}
	}
	return r, false
}

// until waits for a condition of server i's report, and prints the last one when
// it does not come in time.
func (b *bench) until(what string, i int, ok func(protocol.ServerReport) bool) protocol.ServerReport {
	b.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		r, have := b.report(i)
		if have && ok(r) {
			return r
		}
		if time.Now().After(deadline) {
			raw, _ := json.MarshalIndent(r, "", " ")
			b.t.Fatalf("%s did not come; the last report is %s", what, raw)
		}
		time.Sleep(5 * time.Millisecond) // between looks at a condition with a deadline
	}
}
