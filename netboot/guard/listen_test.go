package guard

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"rackboot/protocol"
)

func addrPort(c net.PacketConn) netip.AddrPort {
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// TestListen: where a server does not listen, and why.
func TestListen(t *testing.T) {
	fails := func(int) error { return syscall.EPERM }
	for _, row := range []struct {
		network, at, device string
		control             func(int) error
		want                protocol.Code
	}{
		{"udp4", "0.0.0.0:0", "lo", nil, ""},
		{"udp4", "127.0.0.1:0", "", nil, ""},
		{"udp6", "[::]:0", "lo", nil, ""},
		{"udp6", "[::1]:0", "", nil, ""},
		{"udp4", "0.0.0.0:67", "", nil, protocol.CodeInvalid},
		{"udp6", "[::]:547", "", nil, protocol.CodeInvalid},
		{"udp4", "0.0.0.0:0", "none0", nil, protocol.CodeNotFound},
		{"udp4", "0.0.0.0:0", "lo", fails, protocol.CodeDenied},
		{"udp4", "192.0.2.1:0", "lo", nil, protocol.CodeUnavailable},
		{"udp6", "[2001:db8::1]:0", "lo", nil, protocol.CodeUnavailable},
	} {
		c, err := Listen("test", row.network, netip.MustParseAddrPort(row.at), row.device, row.control)
		if err == nil {
			_ = c.Close()
		}
		if got := protocol.CodeOf(err); got != row.want || got != "" && got != protocol.CodeUnavailable && protocol.HintOf(err) == "" {
			t.Errorf("%s %s on %q: %q (%v), want %q", row.network, row.at, row.device, got, err, row.want)
		}
	}
}

// TestOneServerPerInterface: a second process on the interface must not share its
// packets. Servers that set SO_REUSEADDR and SO_REUSEPORT, as those of
// insomniacslk/dhcp, would, and each packet would go to one of the two.
func TestOneServerPerInterface(t *testing.T) {
	const reusePort = 15 // SO_REUSEPORT of asm-generic/socket.h
	share := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		cerr := c.Control(func(fd uintptr) {
			err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, reusePort, 1),
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1), syscall.BindToDevice(int(fd), "lo"))
		})
		return errors.Join(cerr, err)
	}}
	for network, at := range map[string]string{"udp4": "0.0.0.0:0", "udp6": "[::]:0"} {
		every := netip.MustParseAddrPort(at)
		ours, err := Listen("test", network, every, "lo", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		taken := netip.AddrPortFrom(every.Addr(), addrPort(ours).Port())
		if c, err := Listen("test", network, taken, "lo", nil); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
			t.Errorf("%s: a second one: %v, %v", network, c, err)
		}
		if c, err := share.ListenPacket(t.Context(), network, taken.String()); err == nil {
			_ = c.Close()
			t.Errorf("%s: another server shares the port of ours", network)
		}
		theirs, err := share.ListenPacket(t.Context(), network, at)
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		taken = netip.AddrPortFrom(every.Addr(), addrPort(theirs).Port())
		if c, err := Listen("test", network, taken, "lo", nil); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("%s: ours beside one that shares: %v, %v", network, c, err)
		}
	}
}
