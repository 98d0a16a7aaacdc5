package rack

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent"
	"rackboot/agent/upgrade"
	"rackboot/bmc"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot"
	"rackboot/netboot/image"
	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// bench is an agent's surroundings: servers, a registry and a hub's key. The
// agent itself may be started and stopped over them.
type bench struct {
	t        *testing.T
	log      *slog.Logger
	hub      *wire.Signer
	hubKey   ed25519.PrivateKey
	key      ed25519.PrivateKey // the agent's
	servers  []*sim.Server
	reg      *registry
	image    resource.Image
	dhcp     netip.AddrPort
	http     netip.AddrPort
	tftp     netip.AddrPort
	dhcp6    netip.AddrPort // none if zero
	http6    netip.AddrPort // none if zero
	socket   string         // of the agent's own API; empty is none
	dir      string
	ip       string // of this test; ports of tests that run beside it are theirs
	creds    *credentials
	calls    *calls
	quota    int64 // of the agent's blobs
	minFree  int64 // of the agent's store
	found    func(ctx context.Context, network, address string) (net.Conn, error)
	trial    time.Duration                 // of changed segments; 0 is the agent's own
	change   func(*resource.SegmentIntent) // of the segment; nil for none
	files    string                        // a folder of the site
	https    netip.AddrPort                // with certs; none if zero
	certs    netboot.Certificates
	mirror   *mirror.Mirror          // of package repositories; nil is none
	uploaded map[string][]byte       // by digest
	data     *userDataHub            // where the agent fetches user data
	loaders  string                  // folder of the next agent's boot loaders; empty is none
	stops    *message.SafeStopIntent // of the rack
	keep     *message.KeepIntent     // of the rack
	inrush   *message.InrushIntent   // of the rack
	upgrade  *message.UpgradeIntent  // likewise
	upgrades agent.Upgrades          // of the next agent
	upgraded bool                    // an agent has ended for another release

	poll    time.Duration        // of the rack
	soft    time.Duration        // likewise, after which it forces a server off
	every   time.Duration        // between reports of the agent, if not its default
	ahead   atomic.Int64         // of the agent's clock, in ns
	metrics *prometheus.Registry // of the next agent; nil is a new one
	scraped *prometheus.Registry // of the present one

	link *hub

	news chan struct{} // a message of the agent came

	mu      sync.Mutex
	answers []message.Answer
	agent   *agent.Agent      // that runs
	up      map[string][]byte // newest message by leaf
	version uint64
	term    uint64
	intents []message.ServerIntent
	holds   []resource.ActiveHold
	frees   []resource.Release
	asks    []resource.Request

	destructive agent.Destructive
	trusted     bool // config images may have user data
	approvals   [][]byte

	spansTo string // a collector's URL; empty is none
}

const agentID = "rack-a-1"

// speed divides the times of firmware's DHCP. Its four tries, of a minute as EDK2 has
// them, are then 7.5 s: the agent syncs leases and evidence to the disk before it answers,
// and its own times are not divided, so that firmware which gives up before it is
// answered leaves a boot that ends in minutes.
const speed = 8

func newBench(t *testing.T, servers int, personality bmcsim.Personality) *bench {
	t.Helper()
	return newBenchIn(t, t.TempDir(), servers, personality)
}

func newBenchIn(t *testing.T, dir string, servers int, personality bmcsim.Personality) *bench {
	t.Helper()
	return newBenchOf(t, dir, servers, personality, func(*sim.ServerConfig) {})
}

// newBenchOf is newBenchIn with another kind of server.
func newBenchOf(t *testing.T, dir string, servers int, personality bmcsim.Personality, change func(*sim.ServerConfig)) *bench {
	t.Helper()
	b := &bench{t: t, up: map[string][]byte{}, news: make(chan struct{}, 1), dir: dir, ip: address(t.Name()), term: 1, poll: 100 * time.Millisecond, soft: 2 * time.Second, creds: &credentials{}, data: &userDataHub{}, calls: &calls{}, log: slog.New(slog.DiscardHandler)}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		b.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	_, hubKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b.hub, b.hubKey = wire.NewSigner(hubKey), hubKey
	if _, b.key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	b.link = newHub(b.hub, wire.NewVerifier(wire.NewSigner(b.key).Public()))
	b.creds.set(bmc.Credentials{Username: "admin", Password: "secret"}, nil)
	b.reg = startRegistry(t)
	addrs, err := sim.FreeAddresses(b.ip, 3)
	if err != nil {
		t.Fatal(err)
	}
	b.dhcp, b.http, b.tftp = addrs[0], addrs[1], addrs[2]
	for i := range servers {
		cfg := sim.ServerConfig{
			Name: fmt.Sprintf("server-%d", i+1), MAC: fmt.Sprintf("52:54:00:00:00:%02x", i+1), Username: "admin", Password: "secret",
			Personality: personality, DHCP: net.UDPAddrFromAddrPort(b.dhcp), TFTP: b.tftp, Speed: speed,
			Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: b.log,
		}
		change(&cfg)
		s, err := sim.StartServer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		b.servers = append(b.servers, s)
	}
	b.push(bytes.Repeat([]byte("MZ unified kernel image "), 4096))
	for _, s := range b.servers {
		b.intents = append(b.intents, message.ServerIntent{
			Server: s.Name, UID: "uid-" + s.Name, Segment: "boot-a", BootMAC: s.MAC, Architecture: "amd64",
			BMC: message.BMCIntent{Name: s.Name, Address: s.BMC.Address(), CredentialsRef: "local:bmc", Fingerprint: s.BMC.Fingerprint()},
		})
	}
	return b
}

// push makes a boot file the bench's image.
func (b *bench) push(uki []byte) {
	b.t.Helper()
	ref := b.reg.push(b.t, uki)
	img, err := image.Resolve(b.t.Context(), ref, "amd64", image.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.image = img
}

// address is a loopback address of its own for each test.
func address(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	n := h.Sum32()
	return fmt.Sprintf("127.%d.%d.%d", 100+n%100, n>>8&0xff, 1+n>>16%250)
}

// Publish implements link.Transport: it keeps the newest of each leaf.
func (b *bench) Publish(topic string, payload []byte) error {
	_, _, leaf, _ := message.SplitTopic(topic)
	b.mu.Lock()
	b.up[leaf] = payload
	var m message.Answer
	if leaf == message.LeafAnswer && wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), topic, payload, &m) == nil {
		b.answers = append(b.answers, m)
	}
	select {
	case b.news <- struct{}{}:
	default:
	}
	a := b.agent
	if a != nil {
		b.link.pending.Add(1) // while stop cannot have begun to wait
	}
	b.mu.Unlock()
	if a != nil {
		defer b.link.pending.Done()
		b.link.hear(a, topic, payload)
	}
	return nil
}

// start runs an agent on the bench's folder until stop is called.
func (b *bench) start(crash state.Crasher) (a *agent.Agent, stop func()) {
	b.t.Helper()
	b.scraped = b.metrics
	if b.scraped == nil {
		b.scraped = prometheus.NewRegistry()
	}
	folders := map[string][]string{}
	if b.loaders != "" {
		folders["amd64"] = []string{b.loaders}
	}
	p, err := startAgent(setup{
		Dir: b.dir, Loaders: folders, Key: b.key, Hub: b.hub.Public(), DHCP: b.dhcp, HTTP: b.http, TFTP: b.tftp, DHCP6: b.dhcp6, HTTP6: b.http6, Socket: b.socket,
		Quota: b.quota, MinFree: b.minFree, Trial: b.trial, Destructive: b.destructive, TrustedMedia: b.trusted, Collector: b.spansTo, Upgrades: b.upgrades,
		Files: b.files, mirror: b.mirror, HTTPS: b.https, certs: b.certs, Uploaded: b.uploaded, userData: b.data, credentials: b.creds, calls: b.calls, found: b.found, metrics: b.scraped, crash: crash, log: b.log, reportEvery: b.every, ahead: &b.ahead,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	clear(b.up) // what the agent before said is not taken for this one's
	b.agent = p.agent
	b.mu.Unlock()
	p.agent.Connected(b)
	stop = func() {
		b.mu.Lock()
		b.agent = nil
		b.mu.Unlock()
		b.link.pending.Wait()
		err := p.stop()
		if b.upgraded = b.upgraded || errors.Is(err, upgrade.ErrTrial); err != nil && !errors.Is(err, upgrade.ErrTrial) {
			b.t.Errorf("agent: %v", err)
		}
	}
	b.t.Cleanup(stop)
	return p.agent, stop
}

func (b *bench) segment() resource.SegmentIntent {
	seg := resource.SegmentIntent{
		Name: "boot-a", Prefix: netip.MustParsePrefix("127.0.0.0/8"), PoolFrom: netip.MustParseAddr("127.77.0.10"),
		PoolTo: netip.MustParseAddr("127.77.0.99"), Address: netip.MustParseAddr("127.0.0.1"),
		BaseURL: "http://" + b.http.String(), LeaseTime: time.Hour,
	}
	if b.change != nil {
		b.change(&seg)
	}
	return seg
}

// send signs the bench's documents as they stand and gives them to the agent.
func (b *bench) send(a *agent.Agent) {
	b.t.Helper()
	b.version++
	head := protocol.Head{Epoch: 1, Version: b.version}
	b.deliver(a, message.LeafHold, message.HoldDoc{Head: head, Agent: agentID, Term: b.term, IssuedAt: time.Now(), Fence: b.link.fence, Holds: b.holds, Releases: b.frees, Requests: b.asks, Approvals: b.approvals})
	b.deliver(a, message.LeafRack+"/0", message.RackDoc{
		Head: head, Agent: agentID, Term: b.term, IssuedAt: time.Now(), Fence: b.link.fence, Shards: 1, Servers: b.intents,
		Rack: &message.RackIntent{
			Name: "rack-a", SoftTimeout: b.soft, SettleWindow: 300 * time.Millisecond, PollInterval: b.poll,
			Segments: []resource.SegmentIntent{b.segment()}, AgentKeys: [][]byte{wire.NewSigner(b.key).Public()}, SafeStop: b.stops, Keep: b.keep, Inrush: b.inrush, Upgrade: b.upgrade,
		},
	})
}

func (b *bench) deliver(a *agent.Agent, leaf string, msg any) {
	b.t.Helper()
	topic := message.TopicDown(agentID, leaf)
	data, err := wire.Seal(b.hub, topic, msg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.link.give(a, topic, data)
}

// claim claims server i with a grant for the bench's image.
func (b *bench) claim(i int) {
	b.t.Helper()
	in := &b.intents[i]
	in.Owner.Name, in.Owner.UID, in.Power = "claim", "claim-uid", resource.WantOn
	policy := resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}
	in.Boot = &message.BootIntent{Owner: resource.Owner{Kind: resource.PurposeClaim, UID: in.Owner.UID}, GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{Image: b.image, BootPolicy: policy}}}
	b.grant(i)
}

// grant signs the grant for what server i boots.
func (b *bench) grant(i int) {
	b.t.Helper()
	in := &b.intents[i]
	grant, err := wire.Seal(b.hub, wire.FactGrant, message.Grant{
		OwnerUID: in.Owner.UID, Generation: 1, Server: in.Server, ServerUID: in.UID, ImageDigest: b.image.Digest,
		FirstBoot: in.Boot.BootPolicy.FirstBoot, Network: in.Boot.BootPolicy.Network, MaxAttempts: 3, IssuedAt: time.Now(),
		Purpose: in.Owner.Kind, Repeat: in.Owner.Kind == resource.PurposeMaintenance || in.Boot.BootPolicy.Boot == resource.BootNetwork,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	in.Boot.Grant = grant
}

// newest is the newest report.
func (b *bench) newest() (m message.Report, ok bool) {
	b.t.Helper()
	return m, b.open(message.LeafReport, &m)
}

// open opens the newest message of a leaf.
func (b *bench) open(leaf string, m any) bool {
	b.t.Helper()
	b.mu.Lock()
	raw := b.up[leaf]
	b.mu.Unlock()
	if raw == nil {
		return false
	}
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), message.TopicUp(agentID, leaf), raw, m); err != nil {
		b.t.Fatal(err)
	}
	return true
}

// report is the newest report of server i.
func (b *bench) report(i int) (r resource.ServerReport, ok bool) {
	b.t.Helper()
	m, _ := b.newest()
	for _, s := range m.Servers {
		if s.Server == b.servers[i].Name {
			return s, true
		}
	}
	return r, false
}

// eventually waits for something to be so.
func (b *bench) eventually(what string, ok func() bool) {
	b.t.Helper()
	b.within(eventual, what, ok)
}

// eventual is how long nothing may happen while something is waited for; longest is how
// long a wait may take. A machine under load syncs slowly, one thing after the other.
const (
	eventual = 20 * time.Second
	longest  = 2 * time.Minute
)

// look is how often a wait looks at what no message tells of.
const look = 10 * time.Millisecond

// within waits for something to be so, while something happens in each span of d.
func (b *bench) within(d time.Duration, what string, ok func() bool) {
	b.t.Helper()
	tick := time.NewTicker(look)
	defer tick.Stop()
	came, end := b.progress(), time.Now().Add(longest)
	for deadline := time.Now().Add(d); !ok(); {
		if now := time.Now(); now.After(deadline) {
			if p := b.progress(); p != came && now.Before(end) {
				came, deadline = p, now.Add(d)
				continue
			}
			m, _ := b.newest()
			raw, _ := json.MarshalIndent(m, "", " ")
			b.t.Fatalf("%s did not come; the last report is %s\nhistory %+v", what, raw, b.servers[0].BMC.History())
		}
		select {
		case <-b.news:
		case <-tick.C:
		}
	}
}

// progress says how far everything has come; reads and reports that say the same do not
// count.
func (b *bench) progress() string {
	b.t.Helper()
	var p strings.Builder
	for _, s := range b.servers {
		fmt.Fprint(&p, len(s.BMC.History()), " ")
	}
	m, _ := b.newest()
	for _, r := range m.Servers {
		if a := r.Attempt; a != nil {
			fmt.Fprint(&p, a.ID, a.State, " ")
		}
		for _, h := range r.Holds {
			fmt.Fprint(&p, h.ID, h.Word, " ")
		}
		fmt.Fprint(&p, r.OwnerUID, r.Released, r.ArtefactsLocal, len(r.Conditions), len(r.Requests), "; ")
	}
	return p.String()
}

// until waits for a condition of server i's report, and prints the last one when
// it does not come in time.
func (b *bench) until(what string, i int, ok func(resource.ServerReport) bool) (r resource.ServerReport) {
	b.t.Helper()
	b.eventually(what, func() bool {
		var have bool
		r, have = b.report(i)
		return have && ok(r)
	})
	return r
}

func has(code resource.ConditionCode) func(resource.ServerReport) bool {
	return func(r resource.ServerReport) bool {
		return slices.ContainsFunc(r.Conditions, func(c resource.ConditionState) bool { return c.Code == code })
	}
}

// agentHas says whether the agent as a whole reports a condition.
func (b *bench) agentHas(code resource.ConditionCode) bool {
	m, _ := b.newest()
	return slices.ContainsFunc(m.Conditions, func(c resource.ConditionState) bool { return c.Code == code })
}

// resets are the resets that a BMC accepted, in order.
func (b *bench) resets(i int) (kinds []string) {
	for _, h := range b.servers[i].BMC.History() {
		if h.What == bmcsim.RecordReset {
			kinds = append(kinds, h.Detail)
		}
	}
	return kinds
}

// booted wants server i to have booted so often, once it has: what the agent reports of a
// boot may come before the firmware's own count of it.
func (b *bench) booted(i, network, disk int) {
	b.t.Helper()
	count := b.servers[i].Boots.Counts
	b.eventually(fmt.Sprintf("network boot %d and disk boot %d", network, disk), func() bool {
		n, d, _, _ := count()
		return n >= network && d >= disk
	})
	if n, d, _, _ := count(); n != network || d != disk {
		b.t.Errorf("boots: %d network, %d disk; want %d and %d", n, d, network, disk)
	}
}

// hold puts a hold on server 0 and sends it.
func (b *bench) hold(a *agent.Agent, id string, mode resource.StopMode) {
	b.t.Helper()
	b.holds = append(b.holds, resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: id, Mode: mode}}})
	b.send(a)
}

// release releases all holds and sends that.
func (b *bench) release(a *agent.Agent) {
	b.t.Helper()
	for _, h := range b.holds {
		b.frees = append(b.frees, resource.Release{HoldID: h.ID, Server: h.Server, By: "o", At: time.Now()})
	}
	b.holds = nil
	b.send(a)
}

// receipt opens the receipt of the report's first hold.
func (b *bench) receipt(r resource.ServerReport) (rc resource.Receipt) {
	b.t.Helper()
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactReceipt, r.Holds[0].Receipt, &rc); err != nil {
		b.t.Fatal(err)
	}
	return rc
}
