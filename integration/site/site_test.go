package site

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	bmcsim "rackboot/bmc/sim"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// site is one rack with its servers, an image and a hub's folder. Hub and agents
// are started and stopped over them.
type site struct {
	t       testing.TB
	dir     string
	log     *slog.Logger
	servers []*sim.Server
	reg     *sim.Registry
	image   string // reference
	dhcp    *net.UDPAddr
	http    string // where firmware fetches
	hub     hubdaemon.Config
	client  *api.Client
	stopHub func()
	scraped *prometheus.Registry // takes the metrics of the next agent; nil is a new one
	version string               // of the next hub; empty is test
}

const rackName = "r1"

// shortDir is a folder without the test's name in its path: the agent's socket is in it, whose
// path may have 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// newSite starts the servers and the registry; no hub and no agent.
func newSite(t testing.TB, servers int) *site {
	t.Helper()
	return newSiteOf(t, servers, func(*sim.ServerConfig) {})
}

// newSiteOf is newSite with another kind of server.
func newSiteOf(t testing.TB, servers int, change func(*sim.ServerConfig)) *site {
	t.Helper()
	s := &site{t: t, dir: shortDir(t), log: slog.New(slog.DiscardHandler)}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		s.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	var err error
	if s.reg, err = sim.StartRegistry("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.reg.Close() })
	if s.image, err = s.reg.Push("demo/os:1", sim.UKI(bytes.Repeat([]byte("unified kernel image "), 1024))); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 4)
	s.dhcp = net.UDPAddrFromAddrPort(netip.MustParseAddrPort(ports[3]))
	s.http = ports[2]
	s.hub = hubdaemon.Config{DataDir: filepath.Join(s.dir, "hub"), API: ports[0], MQTT: ports[1], Names: []string{"127.0.0.1"}}
	for i := range servers {
		cfg := sim.ServerConfig{
			Name: fmt.Sprintf("n%d", i+1), MAC: fmt.Sprintf("52:54:00:00:00:%02x", i+1), Username: "admin", Password: "secret",
			Personality: bmcsim.Plain(), DHCP: s.dhcp, Speed: speed,
			Post: 50 * time.Millisecond, Install: 100 * time.Millisecond, Shutdown: 50 * time.Millisecond, Logger: s.log,
		}
		change(&cfg)
		sv, err := sim.StartServer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sv.Close() })
		s.servers = append(s.servers, sv)
	}
	return s
}

// speed divides the times of firmware's DHCP tries, of a minute in all: an agent may take
// seconds to answer on a busy machine, and who is not answered does not boot.
const speed = 8

// freePorts are TCP addresses on loopback that nobody listens on.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	addrs, err := sim.FreeAddresses("127.0.0.1", n)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return out
}

// awaitFree waits for addresses that a daemon is to listen on, some of which it may have
// had before; empty ones are none.
func awaitFree(t testing.TB, addrs ...string) {
	t.Helper()
	var at []netip.AddrPort
	for _, a := range addrs {
		if a != "" {
			at = append(at, netip.MustParseAddrPort(a))
		}
	}
	if err := sim.AwaitFree(t.Context(), at...); err != nil {
		t.Fatal(err)
	}
}

// manifests are the rack with all its servers.
func (s *site) manifests() []resource.Object {
	fast := protocol.Duration(100 * time.Millisecond)
	rack := &resource.Rack{Spec: resource.RackSpec{SoftTimeout: protocol.Duration(2 * time.Second), SettleWindow: 3 * fast, PollInterval: fast}}
	rack.Metadata.Name = rackName
	seg := &resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: rackName}, Prefix: "127.0.0.0/8", Address: "127.0.0.1",
		Pool: resource.Pool{From: "127.77.0.10", To: "127.77.0.99"}, BaseURL: "http://" + s.http,
	}}
	seg.Metadata.Name = "boot"
	objs := []resource.Object{rack, seg}
	for _, sv := range s.servers {
		b := &resource.BMC{Spec: resource.BMCSpec{
			RackRef: resource.Ref{Name: rackName}, Address: sv.BMC.Address(), CredentialsRef: "local:bmc",
			TLS: resource.BMCTLS{Fingerprint: sv.BMC.Fingerprint()},
		}}
		b.Metadata.Name = "b-" + sv.Name
		n := &resource.Server{Spec: resource.ServerSpec{
			BMCRef: resource.Ref{Name: b.Metadata.Name}, SegmentRef: resource.Ref{Name: "boot"}, BootMAC: sv.MAC, Architecture: "amd64",
		}}
		n.Metadata.Name, n.Metadata.Labels = sv.Name, map[string]string{"role": "node"}
		objs = append(objs, b, n)
	}
	for _, o := range objs {
		o.Default()
	}
	return objs
}

func (s *site) claim(server string) *resource.Claim {
	c := &resource.Claim{Spec: resource.ClaimSpec{
		ServerRef: &resource.Ref{Name: server}, Power: resource.WantOn, Image: s.image,
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd},
	}}
	c.Metadata.Name = "c-" + server
	c.Default()
	return c
}

func (s *site) apply(objs ...resource.Object) {
	s.t.Helper()
	if _, err := s.client.Objects.Apply(s.t.Context(), objs, false); err != nil {
		s.t.Fatalf("apply: %v", err)
	}
}

// until waits for a condition that is looked at again and again; show says what
// there was instead.
func (s *site) until(what string, ok func() bool, show func() any) {
	s.t.Helper()
	s.within(waitAtMost, what, ok, show)
}

// within does so for another time.
func (s *site) within(d time.Duration, what string, ok func() bool, show func() any) {
	s.t.Helper()
	for deadline := time.Now().Add(d); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come within %s; there is %+v", what, d, show())
		}
	}
}

// waitAtMost bounds one step: a link that was cut comes back within 3 s, and what
// was not acknowledged goes out again after at most 3 s at first.
const waitAtMost = 30 * time.Second
