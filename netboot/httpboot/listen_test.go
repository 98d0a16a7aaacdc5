package httpboot

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/protocol"
)

// TestBothFamilies: one server listens on an address of each family with the same port,
// and one of them that breaks ends the other.
func TestBothFamilies(t *testing.T) {
	w := start(t) // for its files
	cfg := Config{
		Listen: netip.MustParseAddrPort("0.0.0.0:0"), Files: w.files, Evidence: w.evidence,
	}
	var s *Server
	var port uint16
	for range 20 { // a port that was free may be taken again, by whatever else runs
		probe, err := net.Listen("tcp4", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		port = netip.MustParseAddrPort(probe.Addr().String()).Port()
		_ = probe.Close()
		cfg.Listen = netip.AddrPortFrom(netip.IPv4Unspecified(), port)
		cfg.Listen6 = netip.AddrPortFrom(netip.IPv6Unspecified(), port)
		cfg.Registerer = prometheus.NewPedanticRegistry()
		if s, err = New(cfg); err == nil {
			break
		}
		t.Log(err)
	}
	if s == nil {
		t.Fatal("no port was free in both families")
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(context.WithoutCancel(t.Context())) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	for _, host := range []string{"127.0.0.1", "::1"} {
		resp, err := client.Get("http://" + netip.AddrPortFrom(netip.MustParseAddr(host), port).String() + "/b/" + token + "/small.efi")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(b) != "MZ" {
			t.Errorf("%s: %q, %v", host, b, err)
		}
	}
	if six, ok := s.Addr6().(*net.TCPAddr); !ok || six.Port != int(port) {
		t.Errorf("it listens on %v and %v", s.Addr(), s.Addr6())
	}
	_ = s.listeners[1].Close()
	if err := <-done; protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a listener broke: %v", err)
	}
	w.stop()
	goleak.VerifyNone(t)
}

// TestOneOrNone: where one address cannot be listened on, the other is not either.
func TestOneOrNone(t *testing.T) {
	busy, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	cfg := Config{
		Listen: netip.MustParseAddrPort("127.0.0.1:0"), Listen6: netip.MustParseAddrPort(busy.Addr().String()), Files: &dirFiles{}, Evidence: &memEvidence{},
	}
	if _, err := New(cfg); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("a busy address: %v", err)
	}
	cfg.Listen6 = netip.MustParseAddrPort("127.0.0.1:0")
	if _, err := New(cfg); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("an address of IPv4: %v", err)
	}
}
