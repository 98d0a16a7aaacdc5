package dhcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"rackboot/protocol"
)

const (
	listenTimeout = 5 * time.Second
	// receiveBuffer is what the kernel keeps, in bytes, until a packet is read: a
	// burst of power-ons while the processors are busy. Its own default holds some 200
	// packets; it gives no more than net.core.rmem_max allows.
	receiveBuffer = 4 << 20
)

// listen opens the socket, bound to the interface by SO_BINDTODEVICE: Linux does
// not deliver broadcasts to a socket that is bound to an interface's address.
// Neither SO_REUSEADDR nor SO_REUSEPORT is set. With either, Linux lets two
// processes bind the same UDP port and interface, and each would get a part of
// the packets. Without, a second bind fails, while servers on other interfaces
// are no obstacle.
func listen(at netip.AddrPort, device string) (net.PacketConn, error) {
	const op = "DHCP listen"
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), portServer)
	}
	if device == "" && !at.Addr().IsLoopback() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no interface given for %s", at).
			WithHint("name the segment's interface in the agent's local file")
	}
	lc := net.ListenConfig{}
	if device != "" {
		lc.Control = func(_, _ string, c syscall.RawConn) error {
			var err error
			if cerr := c.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), device) }); cerr != nil {
				return cerr
			}
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	conn, err := lc.ListenPacket(ctx, "udp4", at.String())
	switch {
	case err == nil:
		if u, ok := conn.(*net.UDPConn); ok {
			_ = u.SetReadBuffer(receiveBuffer) // less is slower, not wrong
		}
		return conn, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, protocol.Errorf(protocol.CodeConflict, op, "another DHCP server listens on %s of interface %q: %w", at, device, err).
			WithHint("stop the other server (dnsmasq, Kea, a second agent); ss -lunp 'sport = :%d' names it", at.Port())
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return nil, protocol.Errorf(protocol.CodeDenied, op, "no right to listen on %s of interface %q: %w", at, device, err).
			WithHint("run the agent with CAP_NET_BIND_SERVICE and CAP_NET_RAW, as its systemd unit does")
	case errors.Is(err, syscall.ENODEV):
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err).
			WithHint("check the interface of the segment in the agent's local file")
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "listening on %s of interface %q: %w", at, device, err)
}
