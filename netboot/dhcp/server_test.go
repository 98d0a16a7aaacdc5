package dhcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// run starts a server on a loopback port and returns its address.
func run(t *testing.T, cfg Config) netip.AddrPort {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		goleak.VerifyNone(t)
	})
	return addrPort(s.Addr())
}

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

// relayed is a client that is its own relay (RFC 8357).
func relayed(t *testing.T, server netip.AddrPort) (send func(*dhcpv4.DHCPv4), recv func() *dhcpv4.DHCPv4) {
	t.Helper()
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	send = func(p *dhcpv4.DHCPv4) {
		giaddr("127.0.0.1")(p)
		p.Options[82] = []byte{19, 0}
		if _, err := c.Write(p.ToBytes()); err != nil {
			t.Fatal(err)
		}
	}
	recv = func() *dhcpv4.DHCPv4 {
		buf := make([]byte, 1500)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		p, err := dhcpv4.FromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return send, recv
}

func TestRun(t *testing.T) {
	reg := prometheus.NewRegistry()
	resolver := &fixedResolver{seg: testSegment(), answer: lease1()}
	at := run(t, Config{Segment: "rack1", Listen: loopback(), Resolver: resolver, Leases: newMemLeases(), Evidence: &memEvidence{}, Registerer: reg})
	send, recv := relayed(t, at)

	resolver.mu.Lock()
	resolver.panics = true
	resolver.mu.Unlock()
	send(client(dhcpv4.MessageTypeDiscover, mac2))
	waitFor(t, func() bool {
		n, err := testutil.GatherAndCount(reg, "rackboot_dhcp_packets_total")
		return err == nil && n == 1
	})
	resolver.mu.Lock()
	resolver.panics = false
	resolver.mu.Unlock()

	send(client(dhcpv4.MessageTypeDiscover, mac1))
	offer := recv()
	send(client(asking, mac1, withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
	if ack := recv(); ack.MessageType() != dhcpv4.MessageTypeAck || !ack.YourIPAddr.Equal(offer.YourIPAddr) {
		t.Fatalf("got %s", ack)
	}
	waitFor(t, func() bool {
		n, err := testutil.GatherAndCount(reg, "rackboot_dhcp_packets_total")
		return err == nil && n == 3
	})
	want := `
# HELP rackboot_dhcp_packets_total DHCPv4 packets received, by message type and what became of them.
# TYPE rackboot_dhcp_packets_total counter
rackboot_dhcp_packets_total{result="ack",segment="rack1",type="request"} 1
rackboot_dhcp_packets_total{result="offer",segment="rack1",type="discover"} 1
rackboot_dhcp_packets_total{result="panic",segment="rack1",type="unknown"} 1
# HELP rackboot_dhcp_leases DHCPv4 leases that run.
# TYPE rackboot_dhcp_leases gauge
rackboot_dhcp_leases{segment="rack1"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "rackboot_dhcp_packets_total", "rackboot_dhcp_leases"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("metric names: %v %v", problems, err)
	}
}

// waitFor waits for something that another goroutine does, with a deadline.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

// TestQueueIsBounded: with the store standing still, packets beyond the workers
// and the queue are dropped and counted, and nothing else happens.
func TestQueueIsBounded(t *testing.T) {
	reg := prometheus.NewRegistry()
	leases := newMemLeases()
	leases.putGate = make(chan struct{})
	var c floodConn
	c.packet = client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.60")).ToBytes()
	c.left = workerCount + leasing.QueueLength + 100
	c.closed = make(chan struct{})
	s, err := New(Config{
		Segment: "rack1", Conn: &c, Resolver: &fixedResolver{seg: testSegment(), answer: lease1()},
		Leases: leases, Evidence: &memEvidence{}, Registerer: reg,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	// At most every worker has taken one packet from the full queue.
	waitFor(t, func() bool { return testutil.ToFloat64(s.metrics.Drops) >= 100 })
	close(leases.putGate)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t)
}

// floodConn gives the same packet again and again.
type floodConn struct {
	net.PacketConn
	packet []byte
	left   int
	closed chan struct{}
	once   sync.Once
}

func (c *floodConn) LocalAddr() net.Addr { return &net.UDPAddr{} }

func (c *floodConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if c.left == 0 {
		<-c.closed
		return 0, nil, net.ErrClosed
	}
	c.left--
	return copy(b, c.packet), &net.UDPAddr{IP: net.IPv4(10, 99, 0, 7), Port: 68}, nil
}

func (c *floodConn) WriteTo(b []byte, _ net.Addr) (int, error) { return len(b), nil }

func (c *floodConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func TestBrokenSocket(t *testing.T) {
	c := &floodConn{closed: make(chan struct{})}
	s, err := New(Config{Segment: "rack1", Conn: c, Resolver: &fixedResolver{}, Leases: newMemLeases(), Evidence: &memEvidence{}})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close() // under the server's feet
	if err := s.loop(context.Background()); protocol.CodeOf(err) != protocol.CodeUnavailable || !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestOneServerPerInterface: a second process on the interface must not share its
// packets; with SO_REUSEADDR or SO_REUSEPORT it would.
func TestOneServerPerInterface(t *testing.T) {
	first, err := listen(netip.MustParseAddrPort("0.0.0.0:0"), "lo")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	at := addrPort(first.LocalAddr())
	second, err := listen(at, "lo")
	if err == nil {
		second.Close()
	}
	if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}

func TestConfig(t *testing.T) {
	good := Config{Segment: "rack1", Listen: loopback(), Resolver: &fixedResolver{}, Leases: newMemLeases(), Evidence: &memEvidence{}}
	for name, row := range map[string]struct {
		change func(*Config)
		want   protocol.Code
	}{
		"no segment":                {func(c *Config) { c.Segment = "" }, protocol.CodeInvalid},
		"no resolver":               {func(c *Config) { c.Resolver = nil }, protocol.CodeInvalid},
		"no leases":                 {func(c *Config) { c.Leases = nil }, protocol.CodeInvalid},
		"no evidence":               {func(c *Config) { c.Evidence = nil }, protocol.CodeInvalid},
		"every interface":           {func(c *Config) { c.Listen = netip.AddrPort{} }, protocol.CodeInvalid},
		"interface that is not":     {func(c *Config) { c.Interface = "nope0" }, protocol.CodeNotFound},
		"address that is elsewhere": {func(c *Config) { c.Listen, c.Interface = netip.MustParseAddrPort("192.0.2.1:0"), "lo" }, protocol.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			cfg.Registerer = prometheus.NewRegistry()
			row.change(&cfg)
			s, err := New(cfg)
			if err == nil {
				s.conn.Close()
			}
			if got := protocol.CodeOf(err); got != row.want {
				t.Errorf("got %q (%v), want %q", got, err, row.want)
			}
			if n, _ := testutil.GatherAndCount(cfg.Registerer.(*prometheus.Registry)); n != 0 {
				t.Errorf("%d metrics stay", n)
			}
		})
	}
}
