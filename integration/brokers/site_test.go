package brokers

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	bmcsim "rackboot/bmc/sim"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/hub/pki"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The names that configs/brokers/rackboot-accounts.conf speaks of.
const (
	rackName  = "rack-a1"
	agentName = "rack-a1-1"
)

const (
	// waitAtMost bounds one step. A NATS cluster of which all nodes were killed takes
	// some ten seconds until it serves again.
	waitAtMost = 2 * time.Minute
	// linkPause bounds the pause between two connections, to keep tests short.
	linkPause = 500 * time.Millisecond
)

// site is a hub, an agent with one server, and a broker between them.
type site struct {
	t         *testing.T
	dir       string
	log       *slog.Logger
	keys      *pki.PKI
	server    *sim.Server
	image     string
	hub       hubdaemon.Config
	agent     agentdaemon.Config
	client    *api.Client
	broker    *place
	toHub     *proxy   // the hub's way to the broker
	toStore   []*proxy // the hub's ways to the servers of its store, where these are others
	toAgent   *proxy
	stopHub   func()
	stopAgent func()
}

func newSite(t *testing.T, qos byte, start func(*testing.T, *site) *place) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		s.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s.hub = hubdaemon.Config{DataDir: filepath.Join(s.dir, "hub"), API: freeAddress(t), MQTT: freeAddress(t), Names: []string{"127.0.0.1"}}
	s.hub.Broker.QoS = qos
	if err := os.Mkdir(s.hub.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.keys, err = pki.Open(filepath.Join(s.hub.DataDir, "pki"), s.hub.Names); err != nil {
		t.Fatal(err)
	}
	dhcp, http := s.startServer()
	s.agent = s.agentConfig(dhcp, http)
	s.broker = start(t, s)
	s.toAgent = newProxy(t, s.broker.addrs...)
	if s.broker.away == nil {
		s.broker.away, s.broker.back = s.toAgent.block, func() { s.toAgent.cut(false) }
	}
	if s.broker.external {
		// Hub and agent are on different nodes where there are several.
		first := len(s.broker.addrs) - 1
		s.toHub = newProxy(t, append([]string{s.broker.addrs[first]}, s.broker.addrs[:first]...)...)
		s.hub.MQTT = ""
		s.hub.Broker.URL, s.hub.Broker.Agents, s.hub.Broker.CAFile = s.toHub.url(), s.toAgent.url(), s.broker.caFile
	} else {
		s.agent.Link.Broker = s.toAgent.url()
	}
	return s
}

// startServer starts the server and the registry, and chooses where the agent
// listens.
func (s *site) startServer() (dhcp, http string) {
	s.t.Helper()
	reg, err := sim.StartRegistry("127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = reg.Close() })
	if s.image, err = reg.Push("demo/os:1", sim.UKI(bytes.Repeat([]byte("unified kernel image "), 1024))); err != nil {
		s.t.Fatal(err)
	}
	dhcp, http = freeAddress(s.t), freeAddress(s.t)
	at, err := net.ResolveUDPAddr("udp4", dhcp)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.server, err = sim.StartServer(sim.ServerConfig{
		Name: "n1", MAC: "52:54:00:00:00:01", Username: "admin", Password: "secret", Personality: bmcsim.Plain(), DHCP: at, Speed: 5,
		Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
	}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.server.Close() })
	return dhcp, http
}

func (s *site) agentConfig(dhcp, http string) agentdaemon.Config {
	s.t.Helper()
	credentials := filepath.Join(s.dir, "credentials")
	if err := os.MkdirAll(credentials, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(credentials, "bmc"), []byte("username: admin\npassword: secret\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return agentdaemon.Config{
		DataDir: filepath.Join(s.dir, "agent"), CredentialsDir: credentials,
		Segments: []agentdaemon.Segment{{Name: "boot", DHCP: dhcp, HTTP: http}}, Images: agentdaemon.Images{QuotaMiB: 64},
	}
}

// caFor puts the hub's CA and the broker's certificate into a folder, as an operator
// does, and returns the file of the broker's CA.
func (s *site) caFor(dir string) string {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "hub-ca.pem"), s.keys.CAPEM(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return writeBrokerCertificate(s.t, dir)
}

// hubTLS is that of a client with the hub's certificate.
func (s *site) hubTLS(caFile string) *tls.Config {
	s.t.Helper()
	c := s.keys.ClientTLS()
	if caFile != "" {
		raw, err := os.ReadFile(caFile)
		if err != nil {
			s.t.Fatal(err)
		}
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(raw)
	}
	c.ServerName = "127.0.0.1"
	return c
}

// run starts a daemon and returns what stops it, once it is ready.
func (s *site) run(what string, daemon func(ctx context.Context, ready func()) error) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- daemon(ctx, sync.OnceFunc(func() { close(ready) })) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		s.t.Fatalf("%s did not start: %v", what, err)
	case <-time.After(waitAtMost):
		cancel()
		s.t.Fatalf("%s is not ready", what)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Errorf("%s: %v", what, err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// awaitFree waits for addresses that a daemon may have had before; empty ones are none.
func (s *site) awaitFree(addrs ...string) {
	s.t.Helper()
	for _, a := range addrs {
		if a == "" {
			continue
		}
		if err := sim.AwaitFree(s.t.Context(), netip.MustParseAddrPort(a)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) startHub() {
	s.t.Helper()
	s.awaitFree(s.hub.API, s.hub.MQTT)
	s.stopHub = s.run("hub", func(ctx context.Context, ready func()) error {
		return hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: "test", Logger: s.log, MaxBackoff: linkPause, Ready: ready})
	})
	if s.client == nil {
		token, err := os.ReadFile(filepath.Join(s.hub.DataDir, "pki", "admin.token"))
		if err != nil {
			s.t.Fatal(err)
		}
		if s.client, err = api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.keys.CAPEM(), Token: strings.TrimSpace(string(token))}); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(s.client.CloseIdle)
	}
	var last error
	s.until("the hub", func() bool { last = s.client.Ready(s.t.Context()); return last == nil }, func() any { return last })
}

func (s *site) startAgent() {
	s.t.Helper()
	s.awaitFree(s.agent.Segments[0].DHCP, s.agent.Segments[0].HTTP)
	s.stopAgent = s.run("agent", func(ctx context.Context, ready func()) error {
		return agentdaemon.Run(ctx, s.agent, agentdaemon.Options{Version: "test", Logger: s.log, MaxBackoff: linkPause, Ready: ready})
	})
}

// join makes the agent one of the rack's. Where users are written down, that was done once the rack was there, and is
// not needed again.
func (s *site) join() {
	s.t.Helper()
	s.follow()
	token, err := s.client.Agents.NewToken(s.t.Context(), rackName, api.TokenRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	name, err := agentdaemon.Join(s.t.Context(), s.agent, "https://"+s.hub.API, token.Token, s.keys.CAPEM())
	if err != nil || name != agentName {
		s.t.Fatalf("joined as %q, %v", name, err)
	}
	if got := s.identity().Answer.QoS; got != s.hub.Broker.QoS {
		s.t.Errorf("the agent was told QoS %d, not %d", got, s.hub.Broker.QoS)
	}
}

// manifests are the rack with its server, and the claim.
func (s *site) manifests() []resource.Object {
	fast := protocol.Duration(100 * time.Millisecond)
	rack := &resource.Rack{Spec: resource.RackSpec{SoftTimeout: 20 * fast, SettleWindow: 3 * fast, PollInterval: fast}}
	rack.Metadata.Name = rackName
	seg := &resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: rackName}, Prefix: "127.0.0.0/8", Address: "127.0.0.1",
		Pool: resource.Pool{From: "127.77.0.10", To: "127.77.0.99"}, BaseURL: "http://" + s.agent.Segments[0].HTTP,
	}}
	seg.Metadata.Name = "boot"
	b := &resource.BMC{Spec: resource.BMCSpec{
		RackRef: resource.Ref{Name: rackName}, Address: s.server.BMC.Address(), CredentialsRef: "local:bmc",
		TLS: resource.BMCTLS{Fingerprint: s.server.BMC.Fingerprint()},
	}}
	b.Metadata.Name = "b1"
	n := &resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b1"}, SegmentRef: resource.Ref{Name: "boot"}, BootMAC: s.server.MAC, Architecture: "amd64"}}
	n.Metadata.Name = "n1"
	c := &resource.Claim{Spec: resource.ClaimSpec{
		ServerRef: &resource.Ref{Name: "n1"}, Power: resource.WantOn, Image: s.image,
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd},
	}}
	c.Metadata.Name = "c1"
	objs := []resource.Object{rack, seg, b, n, c}
	for _, o := range objs {
		o.Default()
	}
	return objs
}

// until waits for a condition that is looked at again and again; show says what
// there was instead.
func (s *site) until(what string, ok func() bool, show func() any) {
	s.t.Helper()
	for deadline := time.Now().Add(waitAtMost); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come within %s; there is %+v", what, waitAtMost, show())
		}
	}
}
