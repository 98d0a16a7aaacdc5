package tftp

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
	// Port is the port of requests (RFC 1350 section 4).
	Port          = 69
	listenTimeout = 5 * time.Second
)

// udpDoor is the kernel's socket. It is bound to the interface by
// SO_BINDTODEVICE, and so are those of the transfers: a rack's answer never leaves
// by another network. It asks for IP_PKTINFO, because answers must come from the
// address that was asked, of which an interface may have several (VLAN aliases).
type udpDoor struct {
	*net.UDPConn
	device string
}

// listen opens the socket. Neither SO_REUSEADDR nor SO_REUSEPORT is set, so that a
// second server on the same interface and port is refused; with either, each of
// the two would get a part of the requests.
func listen(at netip.AddrPort, device string) (*udpDoor, error) {
	const op = "TFTP listen"
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), Port)
	}
	if !at.Addr().Is4() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is not an IPv4 address", at)
	}
	if device == "" && !at.Addr().IsLoopback() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no interface given for %s", at).
			WithHint("name the segment's interface in the agent's local file")
	}
	conn, err := bind(at, device, true)
	switch {
	case err == nil:
		return &udpDoor{conn, device}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, protocol.Errorf(protocol.CodeConflict, op, "another TFTP server listens on %s of interface %q: %w", at, device, err).
			WithHint("stop the other server (dnsmasq, tftpd-hpa, a second agent); ss -lunp 'sport = :%d' names it", at.Port())
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return nil, protocol.Errorf(protocol.CodeDenied, op, "no right to listen on %s of interface %q: %w", at, device, err).
			WithHint("run the agent with CAP_NET_BIND_SERVICE and CAP_NET_RAW, as its systemd unit does")
	case errors.Is(err, syscall.ENODEV):
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err).
			WithHint("check the interface of the segment in the agent's local file")
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, op, "listening on %s of interface %q: %w", at, device, err)
}

func bind(at netip.AddrPort, device string, info bool) (*net.UDPConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		cerr := c.Control(func(fd uintptr) {
			if device != "" {
				err = syscall.BindToDevice(int(fd), device)
			}
			if err == nil && info {
				err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
			}
		})
		return errors.Join(cerr, err)
	}}
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	conn, err := lc.ListenPacket(ctx, "udp4", at.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil // what "udp4" gives
}

func (d *udpDoor) next(b []byte) (int, netip.AddrPort, netip.Addr, error) {
	var oob [128]byte // a struct in_pktinfo with its header needs 28
	n, oobn, _, from, err := d.ReadMsgUDPAddrPort(b, oob[:])
	if err != nil {
		return 0, netip.AddrPort{}, netip.Addr{}, err
	}
	return n, unmap(from), asked4(oob[:oobn]), nil
}

func (d *udpDoor) open(local netip.Addr) (socket, error) {
	if !local.IsValid() {
		local = netip.IPv4Unspecified() // the kernel chooses
	}
	return bind(netip.AddrPortFrom(local, 0), d.device, false)
}

// asked4 is ipi_spec_dst of IP_PKTINFO: where the packet came to one address of
// ours it is that address, and where it came to many, by broadcast or multicast,
// the interface's own.
func asked4(oob []byte) netip.Addr {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return netip.Addr{}
	}
	const at = 4 // after the interface's index
	for _, m := range messages {
		if m.Header.Level == syscall.IPPROTO_IP && m.Header.Type == syscall.IP_PKTINFO && len(m.Data) >= syscall.SizeofInet4Pktinfo {
			if a := netip.AddrFrom4([4]byte(m.Data[at : at+4])); !a.IsUnspecified() {
				return a
			}
		}
	}
	return netip.Addr{}
}
