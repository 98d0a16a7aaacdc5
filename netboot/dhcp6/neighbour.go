package dhcp6

import (
	"errors"
	"net"
	"net/netip"

	"rackboot/netboot/leasing"
)

// Neighbour advertisements (RFC 4861 section 4.4).
const (
	icmpNeighbour   = 136
	neighbourHeader = 24
	ndTargetLink    = 2 // option: target link-layer address, section 4.6.1
)

var errNeighbour = errors.New("malformed neighbour advertisement")

// neighbour is who says that it has an address.
type neighbour struct {
	addr netip.Addr
	mac  string
}

// parseNeighbour reads a neighbour advertisement. One without a link-layer address of Ethernet
// says nothing of who has the address.
func parseNeighbour(b []byte) (n neighbour, err error) {
	if len(b) < neighbourHeader || b[0] != icmpNeighbour || b[1] != 0 {
		return n, errNeighbour
	}
	n.addr = netip.AddrFrom16([16]byte(b[8:24]))
	for b = b[neighbourHeader:]; len(b) > 0; {
		if len(b) < 2 || b[1] == 0 || len(b) < 8*int(b[1]) {
			return neighbour{}, errNeighbour
		}
		if b[0] == ndTargetLink && b[1] == 1 {
			n.mac = ethernet(b[2:8])
		}
		b = b[8*int(b[1]):]
	}
	return n, nil
}

// neighbour takes a neighbour advertisement that was heard.
func (s *Server) neighbour(b []byte) error {
	n, err := parseNeighbour(b)
	if err != nil || n.mac == "" {
		return err
	}
	s.answers.Uses(n.addr, n.mac, s.tenant(n.addr))
	return nil
}

// tenant is who has an address of the segment.
func (s *Server) tenant(a netip.Addr) leasing.Tenant {
	in, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
	switch {
	case !ok || in.IPv6 == nil:
		return leasing.Tenant{Whose: leasing.WhoseOther}
	case a == in.IPv6.Address && s.mac != "":
		return leasing.Tenant{Whose: leasing.WhoseOurs, MAC: s.mac}
	}
	if b, ok := s.pool.Tenant(a, s.now()); ok && !b.Guest {
		return leasing.Tenant{Whose: leasing.WhoseLeased, MAC: b.Client, Server: b.Server}
	}
	return leasing.Tenant{Whose: leasing.WhoseOther}
}

// hardware is the Ethernet address of an interface; empty where it has none.
func hardware(device string) string {
	ifi, err := net.InterfaceByName(device)
	if err != nil || len(ifi.HardwareAddr) != 6 {
		return ""
	}
	return ifi.HardwareAddr.String()
}
