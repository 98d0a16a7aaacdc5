package dhcp6

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/ipv6"

	"rackboot/protocol"
)

const listenTimeout = 5 * time.Second

// groups are those of DHCPv6 servers: clients and relays on the link, and relays of
// the site (RFC 8415 section 7.1).
func groups() []string { return []string{"ff02::1:2", "ff05::1:3"} }

// kernelPort is a socket that is bound to an interface.
type kernelPort struct {
	conn net.PacketConn
	v6   *ipv6.PacketConn
}

// listen opens port 547 of an interface, bound by SO_BINDTODEVICE. The kernel answers
// a link-local client from the interface's link-local address. Neither SO_REUSEADDR
// nor SO_REUSEPORT is set: a second server on the interface fails here, while each
// would get a part of the messages otherwise.
func listen(device string) (port, error) {
	const op = "DHCPv6 listen"
	ifi, err := interfaceOf(device)
	if err != nil {
		return nil, err
	}
	conn, err := bound(device, "udp6", netip.AddrPortFrom(netip.IPv6Unspecified(), portServer).String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, protocol.Errorf(protocol.CodeConflict, op, "another DHCPv6 server listens on interface %q: %w", device, err).
			WithHint("stop the other server (dnsmasq, Kea, a second agent); ss -lunp 'sport = :%d' names it", portServer)
	case err != nil:
		return nil, socketError(op, device, err)
	}
	p := &kernelPort{conn: conn, v6: ipv6.NewPacketConn(conn)}
	err = p.v6.SetControlMessage(ipv6.FlagDst, true)
	for _, g := range groups() {
		if err == nil {
			err = p.v6.JoinGroup(ifi, &net.UDPAddr{IP: net.ParseIP(g)})
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, socketError(op, device, err)
	}
	return p, nil
}

func (p *kernelPort) ReadFrom(b []byte) (int, netip.AddrPort, bool, error) {
	n, cm, from, err := p.v6.ReadFrom(b)
	return n, addrPort(from), cm != nil && cm.Dst.IsMulticast(), err
}

func (p *kernelPort) WriteTo(b []byte, to netip.AddrPort) error {
	_, err := p.conn.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return err
}

func (p *kernelPort) LocalAddr() net.Addr { return p.conn.LocalAddr() }

func (p *kernelPort) Close() error { return p.conn.Close() }

// kernelAdverts is a raw ICMPv6 socket that hears router advertisements only. The
// kernel checks and makes the checksums.
type kernelAdverts struct {
	conn net.PacketConn
	v6   *ipv6.PacketConn
	zone string // the interface's index: names are looked up where the caller stands
}

func listenAdverts(device string) (adverts, error) {
	const op = "router advertisements"
	ifi, err := interfaceOf(device)
	if err != nil {
		return nil, err
	}
	conn, err := bound(device, "ip6:ipv6-icmp", "::")
	if err != nil {
		return nil, socketError(op, device, err)
	}
	a := &kernelAdverts{conn: conn, v6: ipv6.NewPacketConn(conn), zone: strconv.Itoa(ifi.Index)}
	var only ipv6.ICMPFilter
	only.SetAll(true)
	only.Accept(ipv6.ICMPTypeRouterAdvertisement)
	err = errors.Join(a.v6.SetICMPFilter(&only), a.v6.SetControlMessage(ipv6.FlagHopLimit, true),
		a.v6.SetMulticastInterface(ifi), a.v6.SetMulticastHopLimit(hopLimit))
	if err != nil {
		_ = conn.Close()
		return nil, socketError(op, device, err)
	}
	return a, nil
}

func (a *kernelAdverts) Read(b []byte) (n int, from netip.Addr, hops int, err error) {
	n, cm, src, err := a.v6.ReadFrom(b)
	if cm != nil {
		hops = cm.HopLimit
	}
	if ip, ok := src.(*net.IPAddr); ok {
		from, _ = netip.AddrFromSlice(ip.IP) // zero if malformed, and then not link-local
	}
	return n, from, hops, err
}

func (a *kernelAdverts) Solicit() error {
	_, err := a.conn.WriteTo(solicitation(), &net.IPAddr{IP: net.IPv6linklocalallrouters, Zone: a.zone})
	return err
}

func (a *kernelAdverts) Close() error { return a.conn.Close() }

func interfaceOf(device string) (*net.Interface, error) {
	const op = "DHCPv6 listen"
	if device == "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no interface given").
			WithHint("name the segment's interface in the agent's local file")
	}
	ifi, err := net.InterfaceByName(device)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err).
			WithHint("check the interface of the segment in the agent's local file")
	}
	return ifi, nil
}

// bound opens a socket that is bound to an interface.
func bound(device, network, address string) (net.PacketConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), device) }); cerr != nil {
			return cerr
		}
		return err
	}}
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	return lc.ListenPacket(ctx, network, address)
}

func socketError(op, device string, err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return protocol.Errorf(protocol.CodeDenied, op, "no right to the sockets of interface %q: %w", device, err).
			WithHint("run the agent with CAP_NET_BIND_SERVICE and CAP_NET_RAW, as its systemd unit does")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "sockets of interface %q: %w", device, err).
		WithHint("check that IPv6 is on for the interface: sysctl net.ipv6.conf.%s.disable_ipv6", device)
}
