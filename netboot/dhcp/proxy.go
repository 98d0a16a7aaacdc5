package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// proxy is the server beside another one that leases the addresses (PXE 2.1
// section 2.2.4): it answers DISCOVERs of boot clients with an OFFER without an
// address, and REQUESTs at the boot server's port. It never refuses an address, and
// does not answer what is for the other server. The first row that fits decides.
//
//	DISCOVER at 67    | OFFER: yiaddr 0, no options 51, 1, 3, 6
//	REQUEST at 4011   | ACK
//	anything else     | silence
func (s *Server) proxy(r *request, seg resource.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	switch {
	case r.boot:
		return s.bootServer(r, seg)
	case r.kind == dhcpv4.MessageTypeDiscover:
		a, who := s.decide(r, seg, r.ciaddr)
		s.seen(r, who, r.ciaddr)
		return s.bootOnly(r, seg, a, dhcpv4.MessageTypeOffer, resultOffer)
	case r.kind == dhcpv4.MessageTypeRequest:
		_, who := s.decide(r, seg, r.ciaddr)
		s.seen(r, who, r.ciaddr)
	}
	return nil, resultIgnored
}

// bootServer answers at port 4011, in proxy mode and beside full DHCP: EDK2 asks
// there whenever the offer said PXEClient and had no option 43, also if that offer
// was another server's.
func (s *Server) bootServer(r *request, seg resource.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	if r.kind != dhcpv4.MessageTypeRequest || r.giaddr.IsValid() {
		return nil, resultIgnored
	}
	if r.strange(seg.Prefix) {
		return nil, resultSubnet
	}
	a, who := s.decide(r, seg, r.ciaddr)
	s.seen(r, who, r.ciaddr)
	return s.bootOnly(r, seg, a, dhcpv4.MessageTypeAck, resultAck)
}

// bootOnly is a reply with boot data and nothing else. There is none for who does
// not boot, nor for who cannot be told anything without an address.
func (s *Server) bootOnly(r *request, seg resource.SegmentIntent, a protocol.BootAnswer, kind dhcpv4.MessageType, result string) (*dhcpv4.DHCPv4, string) {
	if a.Action != protocol.AnswerBoot && a.Action != protocol.AnswerRefuse || r.class == protocol.ClassNone {
		return nil, resultSilence
	}
	p := newReply(r, seg, kind)
	if r.boot {
		p.ClientIPAddr = r.ClientIPAddr
	}
	if err := bootData(p, r, seg, a); err != nil {
		return s.made(p, r, seg, a, result)
	}
	if !p.Options.Has(dhcpv4.OptionBootfileName) && !p.Options.Has(dhcpv4.OptionVendorSpecificInformation) {
		return nil, resultSilence
	}
	// Without option 60 the client does not take it for a proxy's.
	if !p.Options.Has(dhcpv4.OptionClassIdentifier) {
		p.Options[dhcpv4.OptionClassIdentifier.Code()] = []byte(prefixPXEClient)
	}
	return p, result
}
