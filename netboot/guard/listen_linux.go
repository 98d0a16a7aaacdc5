package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"rackboot/protocol"
)

const listenTimeout = 5 * time.Second

// Listen opens the socket of a server, such as DHCP, bound to its interface by
// SO_BINDTODEVICE: Linux does not deliver broadcasts to a socket that is bound to an
// interface's address. The network is udp4, udp6 (of IPv6 only, so that [::] does not
// take the port of 0.0.0.0) or that of a raw socket, which has no port. control may set
// options before the socket is bound.
//
// Neither SO_REUSEADDR nor SO_REUSEPORT is set. With either, Linux lets two processes
// bind the same UDP port and interface, and each would get a part of the packets.
// Without, a second bind fails, also of one that would share, while servers on other
// interfaces are no obstacle.
//
// Errors: invalid without an interface, unless the address is a loopback one; conflict if
// another process listens there; denied without the right to; not_found for the
// interface; else unavailable.
func Listen(server, network string, at netip.AddrPort, device string, control func(fd int) error) (net.PacketConn, error) {
	op := server + " listen"
	if device == "" && !at.Addr().IsLoopback() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no interface given for %s", at).
			WithHint("name the segment's interface in the agent's local file")
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		cerr := c.Control(func(fd uintptr) {
			if device != "" {
				err = syscall.BindToDevice(int(fd), device)
			}
			if err == nil && control != nil {
				err = control(int(fd))
			}
		})
		return errors.Join(cerr, err)
	}}
	address := at.String()
	if !strings.HasPrefix(network, "udp") {
		address = at.Addr().String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	conn, err := lc.ListenPacket(ctx, network, address)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, protocol.Errorf(protocol.CodeConflict, op, "another %s server listens on %s of interface %q: %w", server, at, device, err).
			WithHint("stop the other server (dnsmasq, Kea, tftpd-hpa, a second agent); ss -lunp 'sport = :%d' names it", at.Port())
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return nil, protocol.Errorf(protocol.CodeDenied, op, "no right to listen on %s of interface %q: %w", at, device, err).
			WithHint("run the agent with CAP_NET_BIND_SERVICE and CAP_NET_RAW, as its systemd unit does")
	case errors.Is(err, syscall.ENODEV):
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err).
			WithHint("check the interface of the segment in the agent's local file")
	}
	wrong := protocol.Errorf(protocol.CodeUnavailable, op, "listening on %s of interface %q: %w", at, device, err)
	if at.Addr().Is6() {
		return nil, wrong.WithHint("check that IPv6 is on for the interface: sysctl net.ipv6.conf.%s.disable_ipv6", device)
	}
	return nil, wrong
}
