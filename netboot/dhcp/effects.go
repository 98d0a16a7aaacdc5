package dhcp

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// service is the segment's now.
func (s *Server) service() netboot.Service {
	if sv, ok := s.cfg.Resolver.(netboot.Servicer); ok {
		return sv.Service(s.cfg.Segment)
	}
	return netboot.Service{}
}

// decide finds the answer for a client, and the client to record as seen, nil if it is none.
func (s *Server) decide(r *request, seg resource.SegmentIntent, addr netip.Addr) (protocol.BootAnswer, *protocol.BootClient) {
	r.question = &leasing.Question{Client: r.client(s.cfg.Segment, addr), ID: r.mac, First: r.kind == dhcpv4.MessageTypeDiscover}
	return s.answers.Decide(seg, r.question)
}

// seen records a boot client with the address that it holds or is offered.
func (s *Server) seen(r *request, who *protocol.BootClient, addr netip.Addr) {
	if r.kind == dhcpv4.MessageTypeDiscover || r.kind == dhcpv4.MessageTypeRequest {
		s.answers.Seen(who, addr, r.peer.Addr())
	}
}

// made is the last step of a reply: what the answer says about booting.
func (s *Server) made(p *dhcpv4.DHCPv4, r *request, seg resource.SegmentIntent, a protocol.BootAnswer, result string) (*dhcpv4.DHCPv4, string) {
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, result
}

// ended tells the caller that the client has the address no more.
func (s *Server) ended(l netboot.Lease) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(l)
	}
}

// forget deletes the lease of an address that its MAC left. A lease that stays is
// harmless: loading prefers the newer one of a MAC.
func (s *Server) forget(ctx context.Context, l netboot.Lease) {
	if err := s.records.Delete(ctx, l); err != nil {
		s.log.Warn("old lease not deleted", "mac", l.MAC, "address", l.Address.String(), "err", err)
	}
}
