package dhcp6

import (
	"errors"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/net/ipv6"

	"rackboot/netboot/guard"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

const opListen = "DHCPv6 listen"

// groups are those of DHCPv6 servers: clients and relays on the link, and relays of
// the site (RFC 8415 section 7.1).
func groups() []string { return []string{"ff02::1:2", "ff05::1:3"} }

// kernelPort is a socket that is bound to an interface.
type kernelPort struct {
	conn net.PacketConn
	v6   *ipv6.PacketConn
}

// listen opens the server's socket, as [leasing.Listen] does, and joins the groups. The
// kernel answers a link-local client from the interface's link-local address. Without
// an interface it takes what relays send to a loopback address.
func listen(at netip.AddrPort, device string) (port, error) {
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.IPv6Unspecified(), portServer)
	}
	if !plain6(at.Addr()) {
		return nil, protocol.Errorf(protocol.CodeInvalid, opListen, "%s is not an IPv6 address", at)
	}
	conn, err := leasing.Listen("DHCPv6", "udp6", at, device)
	if err != nil {
		return nil, err
	}
	p := &kernelPort{conn: conn, v6: ipv6.NewPacketConn(conn)}
	if err = p.v6.SetControlMessage(ipv6.FlagDst, true); err == nil && device != "" {
		err = p.join(device)
	}
	if err != nil {
		_ = conn.Close()
		return nil, socketError(device, err)
	}
	return p, nil
}

func (p *kernelPort) join(device string) error {
	ifi, err := net.InterfaceByName(device)
	if err != nil {
		return err
	}
	for _, g := range groups() {
		if err := p.v6.JoinGroup(ifi, &net.UDPAddr{IP: net.ParseIP(g)}); err != nil {
			return err
		}
	}
	return nil
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

// kernelAdverts is a raw ICMPv6 socket that hears advertisements of routers and neighbours only. The
// kernel checks and makes the checksums.
type kernelAdverts struct {
	conn net.PacketConn
	v6   *ipv6.PacketConn
	zone string // the interface's index: names are looked up where the caller stands
}

func listenAdverts(device string) (adverts, error) {
	conn, err := guard.Listen("router advertisements", "ip6:ipv6-icmp", netip.AddrPortFrom(netip.IPv6Unspecified(), 0), device, nil)
	if err != nil {
		return nil, err
	}
	ifi, err := net.InterfaceByName(device)
	if err != nil {
		_ = conn.Close()
		return nil, socketError(device, err)
	}
	a := &kernelAdverts{conn: conn, v6: ipv6.NewPacketConn(conn), zone: strconv.Itoa(ifi.Index)}
	var only ipv6.ICMPFilter
	only.SetAll(true)
	only.Accept(ipv6.ICMPTypeRouterAdvertisement)
	only.Accept(ipv6.ICMPTypeNeighborAdvertisement)
	err = errors.Join(a.v6.SetICMPFilter(&only), a.v6.SetControlMessage(ipv6.FlagHopLimit, true),
		a.v6.SetMulticastInterface(ifi), a.v6.SetMulticastHopLimit(hopLimit))
	if err != nil {
		_ = conn.Close()
		return nil, socketError(device, err)
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

func socketError(device string, err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, opListen, "sockets of interface %q: %w", device, err).
		WithHint("check that IPv6 is on for the interface: sysctl net.ipv6.conf.%s.disable_ipv6", device)
}
