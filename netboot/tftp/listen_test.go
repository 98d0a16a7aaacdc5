package tftp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"rackboot/protocol"
)

// onLoopback runs a server on the loopback interface, with real sockets.
func onLoopback(t *testing.T, change ...func(*Config)) (s *Server, files *memFiles, port uint16) {
	t.Helper()
	files = &memFiles{files: map[string][]byte{"boot.efi": pattern(100_000)}}
	cfg := Config{
		Segment: "rack1", Listen: netip.MustParseAddrPort("0.0.0.0:0"), Interface: "lo", Files: files, Evidence: &memEvidence{},
	}
	for _, c := range change {
		c(&cfg)
	}
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
	return s, files, addrPort(s.Addr()).Port()
}

func udp(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestAddressOfAnswers: answers come from the address that was asked, which VLAN
// aliases need, and from the interface's own where many were asked.
func TestAddressOfAnswers(t *testing.T) {
	_, files, port := onLoopback(t)
	for asked, from := range map[string]string{
		"127.0.0.1":       "127.0.0.1",
		"127.0.0.2":       "127.0.0.2",
		"127.1.2.3":       "127.1.2.3",
		"127.255.255.255": "127.0.0.1", // the loopback interface's broadcast address
	} {
		c := &client{sock: udp(t), server: netip.AddrPortFrom(netip.MustParseAddr(from), port), options: edk2Options()}
		// The client asks one address and believes the other.
		c.sock = asking{c.sock, c.server, netip.AddrPortFrom(netip.MustParseAddr(asked), port)}
		if b, err := c.fetch("boot.efi"); err != nil || !bytes.Equal(b, files.files["boot.efi"]) || c.tid.Port() == port {
			t.Errorf("%s: %d bytes from %s, %v", asked, len(b), c.tid, err)
		}
		if _, err := c.fetch("nope"); !errors.Is(err, gotError(1)) {
			t.Errorf("%s: an unknown file: %v", asked, err)
		}
	}
}

// asking sends to another address what goes to one.
type asking struct {
	wire
	one, other netip.AddrPort
}

func (a asking) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	if to == a.one {
		to = a.other
	}
	return a.wire.WriteToUDPAddrPort(b, to)
}

// TestSecondServer: two servers on one interface and port would each get a part of
// the requests.
func TestSecondServer(t *testing.T) {
	s, _, port := onLoopback(t)
	_, err := New(Config{
		Segment: "again", Listen: netip.AddrPortFrom(netip.IPv4Unspecified(), port), Interface: "lo", Files: &memFiles{}, Evidence: &memEvidence{},
	})
	if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("a second server on %s: %v", s.Addr(), err)
	}
	// The same over IPv6.
	first, _, _ := onLoopback(t, func(c *Config) { c.Listen, c.Listen6 = netip.AddrPort{}, netip.MustParseAddrPort("[::1]:0") })
	at4 := netip.MustParseAddrPort("127.0.0.3:0")
	_, err = New(Config{
		Segment: "again", Listen: at4, Listen6: addrPort(first.Addr6()), Interface: "lo", Files: &memFiles{}, Evidence: &memEvidence{},
	})
	if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("a second server on %s: %v", first.Addr6(), err)
	}
}

// TestIPv6 has both families on one port: neither takes the other's, answers come from
// the address that was asked, and a block is as long as fits the longer header.
func TestIPv6(t *testing.T) {
	s, files, port := onLoopback(t, func(c *Config) { c.Listen6 = netip.MustParseAddrPort("[::1]:0") })
	six := addrPort(s.Addr6())
	for _, row := range []struct {
		at      netip.AddrPort
		network string
		blksize string
	}{
		{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), "udp4", "1468"},
		{six, "udp6", "1448"},
	} {
		sock, err := net.ListenUDP(row.network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(row.at.Addr(), 0)))
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		c := &client{sock: sock, server: row.at, options: []option{{"blksize", "65464"}}}
		if b, err := c.fetch("boot.efi"); err != nil || !bytes.Equal(b, files.files["boot.efi"]) || c.oack["blksize"] != row.blksize || c.tid.Addr() != row.at.Addr() {
			t.Errorf("%s: %d bytes from %s, %v, %v", row.at, len(b), c.tid, c.oack, err)
		}
		if _, err := c.fetch("nope"); !errors.Is(err, gotError(1)) {
			t.Errorf("%s: an unknown file: %v", row.at, err)
		}
	}
	for _, at := range []struct{ v4, v6 string }{{"[::]:69", ""}, {"", "0.0.0.0:69"}, {"", "[::ffff:127.0.0.1]:69"}} {
		cfg := Config{Segment: "bad", Interface: "lo", Files: files, Evidence: &memEvidence{}}
		if at.v4 != "" {
			cfg.Listen = netip.MustParseAddrPort(at.v4)
		} else {
			cfg.Listen6 = netip.MustParseAddrPort(at.v6)
		}
		if _, err := New(cfg); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%+v: %v", at, err)
		}
	}
}

// TestBlksizeFitsTheInterface: the ceiling is what Limits say, and never more than
// the MTU holds; the loopback interface's is 65536.
func TestBlksizeFitsTheInterface(t *testing.T) {
	for _, row := range []struct {
		limit int
		asked string
		want  string
	}{
		{0, "65464", "1468"},
		{0, "1024", "1024"},
		{9000, "65464", "9000"},
		{65464, "65464", "65464"},
	} {
		_, files, port := onLoopback(t, func(c *Config) { c.Limits.Blksize = row.limit })
		c := &client{sock: udp(t), server: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), options: []option{{"blksize", row.asked}}}
		if b, err := c.fetch("boot.efi"); err != nil || !bytes.Equal(b, files.files["boot.efi"]) || c.oack["blksize"] != row.want {
			t.Errorf("limit %d, asked %s: %v, %d bytes, %v", row.limit, row.asked, c.oack, len(b), err)
		}
	}
	l, err := Limits{Blksize: 65464}.complete("")
	if err != nil || l.Blksize != 65464 {
		t.Errorf("%+v, %v", l, err)
	}
}
