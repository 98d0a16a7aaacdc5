package dhcp

import (
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/rfc1035label"

	"rackboot/protocol/resource"
)

// extras adds what the segment's service says for operating systems: domain, search
// list, time servers and routes (options 15, 119, 42 and 121). Firmware has no use for
// them and its answers have little room. A value that does not fit into one option is
// left out: EDK2's and busybox's clients join none that are split.
func extras(p *dhcpv4.DHCPv4, seg resource.SegmentIntent) {
	s := seg.Service
	if s == nil {
		return
	}
	put := func(code dhcpv4.OptionCode, value []byte) {
		if len(value) > 0 && len(value) <= maxOption {
			p.Options[code.Code()] = value
		}
	}
	put(dhcpv4.OptionDomainName, []byte(s.Domain))
	put(dhcpv4.OptionNTPServers, addrBytes(s.NTP))
	if len(s.Search) > 0 {
		put(dhcpv4.OptionDNSDomainSearchList, (&rfc1035label.Labels{Labels: s.Search}).ToBytes())
	}
	if len(s.Routes) > 0 {
		put(dhcpv4.OptionClasslessStaticRoute, routes(seg))
	}
}

// routes are those of option 121. Clients that take it ignore option 3 (RFC 3442,
// page 4), so that the default route is among them.
func routes(seg resource.SegmentIntent) []byte {
	var out dhcpv4.Routes
	add := func(to netip.Prefix, via netip.Addr) {
		out = append(out, &dhcpv4.Route{
			Dest:   &net.IPNet{IP: to.Addr().AsSlice(), Mask: net.CIDRMask(to.Bits(), 32)},
			Router: via.AsSlice(),
		})
	}
	for _, r := range seg.Service.Routes {
		add(r.To, r.Via)
	}
	if len(seg.Routers) > 0 {
		add(netip.PrefixFrom(netip.IPv4Unspecified(), 0), seg.Routers[0])
	}
	return out.ToBytes()
}
