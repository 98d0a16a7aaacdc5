package dhcp6

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// run runs a server until the test ends.
func run(t *testing.T, s *Server) {
	t.Helper()
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
}

// relayed exchanges messages with a server on a loopback address, as a relay that
// wants answers at its own port (RFC 8357).
func relayed(t *testing.T, server net.Addr) func(p *reply) *dhcpv6.Message {
	t.Helper()
	c, err := net.DialUDP("udp6", nil, server.(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return func(p *reply) *dhcpv6.Message {
		if _, err := c.Write(forwarded(p.bytes(), 0, "2001:db8::fd", "fe80::9", raw(optRelayPort, []byte{0, 0}))); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, leasing.PacketSize)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		d, err := dhcpv6.FromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.GetInnerMessage()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// TestRun: an exchange over sockets, a panic that costs one message, and the metrics.
func TestRun(t *testing.T) {
	conn, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, boot1())
	reg := prometheus.NewPedanticRegistry()
	cfg := w.config()
	cfg.Conn, cfg.Registerer = conn, reg
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("metrics: %v %v", problems, err)
	}
	if _, err := New(cfg); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("the same metrics twice: %v", err)
	}
	run(t, s)
	exchange := relayed(t, s.Addr())
	w.resolver.breakDown(true)
	c, err := net.DialUDP("udp6", nil, s.Addr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(client(dhcpv6.MessageTypeSolicit, mac2, ia(1)).bytes()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); testutil.ToFloat64(s.metrics.Packets.WithLabelValues(typeUnknown, resultPanic)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the panic is not counted")
		}
		time.Sleep(time.Millisecond)
	}
	w.resolver.breakDown(false)
	m := exchange(client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1)))
	a := leased(m)
	if m = exchange(client(dhcpv6.MessageTypeRequest, mac1, httpClient(), ours(), ia(1, a))); m.MessageType != dhcpv6.MessageTypeReply || leased(m) != a {
		t.Errorf("request: %s", m.Summary())
	}
	if n := testutil.ToFloat64(s.metrics.Packets.WithLabelValues(typeRequest, resultReply)); n != 1 {
		t.Errorf("%v replies counted", n)
	}
}

// TestNewRefuses: what is wrong in a configuration.
func TestNewRefuses(t *testing.T) {
	w := newWorld(t, lease1())
	for name, row := range map[string]struct {
		change func(*Config)
		code   protocol.Code
	}{
		"no segment":      {func(c *Config) { c.Segment = "" }, protocol.CodeInvalid},
		"no resolver":     {func(c *Config) { c.Resolver = nil }, protocol.CodeInvalid},
		"no leases":       {func(c *Config) { c.Leases = nil }, protocol.CodeInvalid},
		"no evidence":     {func(c *Config) { c.Evidence = nil }, protocol.CodeInvalid},
		"no DUID":         {func(c *Config) { c.DUID = nil }, protocol.CodeInvalid},
		"a DUID too long": {func(c *Config) { c.DUID = make([]byte, 131) }, protocol.CodeInvalid},
		"no interface":    {func(c *Config) { c.Conn = nil }, protocol.CodeInvalid},
		"no such one":     {func(c *Config) { c.Conn, c.Interface = nil, "absent0" }, protocol.CodeNotFound},
	} {
		cfg := w.config()
		row.change(&cfg)
		if _, err := New(cfg); protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDUID: RFC 6355, stable, and another for another name.
func TestDUID(t *testing.T) {
	a := DUID("agent1/rack1")
	if len(a) != 18 || a[1] != duidUUID || a[8]>>4 != 8 || a[10]>>6 != 2 || !bytes.Equal(a, DUID("agent1/rack1")) || bytes.Equal(a, DUID("agent1/rack2")) {
		t.Errorf("%x", a)
	}
}
