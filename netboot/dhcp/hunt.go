package dhcp

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot/leasing"
	"rackboot/protocol/resource"
)

const (
	// huntEvery is how often other DHCP servers are looked for, huntFirst when for
	// the first time. Each costs them an address for as long as they hold an offer.
	huntEvery = 10 * time.Minute
	huntFirst = 15 * time.Second
	// huntListen is how long their offers are waited for: dnsmasq pings an address
	// for 3 s before it offers it.
	huntListen = 5 * time.Second
	// huntPackets bounds what is read in that time.
	huntPackets = 256
)

// hunt looks for other DHCP servers from time to time, until ctx ends.
func (s *Server) hunt(ctx context.Context) {
	timer := time.NewTimer(huntFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(huntEvery)
		seg, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
		if !ok || !seg.Address.Is4() || !s.alone() {
			continue
		}
		found, err := s.link.discover(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("other DHCP servers were not looked for", "err", err)
		}
		for _, a := range found {
			if a != seg.Address {
				s.foreign(a, foundOffer)
			}
		}
	}
}

// alone says whether another DHCP server would be one too many.
func (s *Server) alone() bool {
	switch s.service().Mode {
	case "", resource.ServiceFull, resource.ServiceReservations:
		return true
	case resource.ServiceProxy, resource.ServiceNone:
	}
	return false
}

// discover sends a DISCOVER from a random, locally administered MAC address that
// nobody has, and returns who made an offer. It asks like a boot client, so that
// ProxyDHCP servers answer too. The frame has the interface's own address, lest
// switches learn one that is not there.
func (l *link) discover(ctx context.Context) ([]netip.Addr, error) {
	in, err := l.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, huntListen)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	defer func() {
		if stop() {
			_ = in.Close()
		}
	}()
	var mac mac48
	p := &dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeBootRequest, HWType: iana.HWTypeEthernet, Flags: flagBroadcast,
		ClientIPAddr: net.IPv4zero, YourIPAddr: net.IPv4zero, ServerIPAddr: net.IPv4zero, GatewayIPAddr: net.IPv4zero,
		Options: dhcpv4.Options{
			dhcpv4.OptionDHCPMessageType.Code():                  {byte(dhcpv4.MessageTypeDiscover)},
			dhcpv4.OptionParameterRequestList.Code():             {1, 3, 6, 43, 60, 66, 67},
			dhcpv4.OptionClassIdentifier.Code():                  []byte(prefixPXEClient + ":Arch:00007:UNDI:003000"),
			dhcpv4.OptionClientSystemArchitectureType.Code():     {0, 7},
			dhcpv4.OptionClientNetworkInterfaceIdentifier.Code(): {1, 3, 0},
		},
	}
	_, _ = rand.Read(p.TransactionID[:]) // never fails
	_, _ = rand.Read(mac[:])
	mac[0] = mac[0]&^1 | 2 // one machine's, and locally administered
	p.ClientHWAddr = mac[:]
	d := datagram{
		fromMAC: l.mac, toMAC: broadcastMAC(), payload: p.ToBytes(),
		from: netip.AddrPortFrom(netip.IPv4Unspecified(), portClient),
		to:   netip.AddrPortFrom(everybody().Addr(), portServer),
	}
	if _, err := l.out.Write(d.frame()); err != nil {
		return nil, err
	}
	var servers []netip.Addr
	buf := make([]byte, leasing.PacketSize)
	for range huntPackets {
		n, err := in.Read(buf)
		if err != nil {
			break // the time is over
		}
		if a, ok := offerer(buf[:n], p); ok {
			servers = append(servers, a)
		}
	}
	return servers, nil
}

// offerer is the server that answered p by the frame.
func offerer(frame []byte, p *dhcpv4.DHCPv4) (netip.Addr, bool) {
	d, err := parseDatagram(frame)
	if err != nil {
		return netip.Addr{}, false
	}
	o, err := decode(d.payload)
	if err != nil || o.OpCode != dhcpv4.OpcodeBootReply || o.TransactionID != p.TransactionID || o.ClientHWAddr.String() != p.ClientHWAddr.String() {
		return netip.Addr{}, false
	}
	if a := addr4(o.Options.Get(dhcpv4.OptionServerIdentifier)); a.IsValid() {
		return a, true
	}
	return d.from.Addr(), true
}
