package dhcp

import (
	"net/netip"

	"rackboot/netboot/leasing"
)

// uses takes an ARP packet that was heard: its sender uses an address, unless it probes for
// one (RFC 5227 section 1.1).
func (s *Server) uses(a arpPacket) {
	if !a.senderIP.IsValid() || a.senderIP.IsUnspecified() || a.senderMAC[0]&1 != 0 {
		return
	}
	s.answers.Uses(a.senderIP, a.senderMAC.String(), s.tenant(a.senderIP))
}

// tenant is who has an address of the segment.
func (s *Server) tenant(a netip.Addr) leasing.Tenant {
	seg, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
	switch {
	case !ok:
		return leasing.Tenant{Whose: leasing.WhoseOther}
	case a == seg.Address:
		return leasing.Tenant{Whose: leasing.WhoseOurs, MAC: s.link.mac.String()}
	}
	if b, ok := s.pool.Tenant(a, s.now()); ok && !b.Guest {
		return leasing.Tenant{Whose: leasing.WhoseLeased, MAC: b.Client, Server: b.Server}
	}
	return leasing.Tenant{Whose: leasing.WhoseOther}
}
