package dhcp

import (
	"context"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// decline is RFC 2131 section 4.3.3: the client found the address in use. It is
// not offered for declineHold, also after a restart.
func (s *Server) decline(ctx context.Context, r *request, seg protocol.SegmentIntent) string {
	if r.server != seg.Address {
		return resultElsewhere
	}
	until, ok := s.pool.decline(r.mac, r.asked, s.now())
	if !ok {
		return resultUnknown
	}
	s.log.Warn("address declined", "mac", r.mac, "address", r.asked.String(), "until", until)
	l := netboot.Lease{Segment: s.cfg.Segment, Address: r.asked, MAC: r.mac, Expires: until, Declined: true}
	if err := s.put(ctx, l); err != nil {
		s.log.Error("lease not stored", "mac", r.mac, "address", r.asked.String(), "err", err)
		return resultStoreError
	}
	return resultDone
}

// release is RFC 2131 section 4.3.4. The binding is remembered for the MAC.
func (s *Server) release(ctx context.Context, r *request, seg protocol.SegmentIntent) string {
	if r.server.IsValid() && r.server != seg.Address {
		return resultElsewhere
	}
	now := s.now()
	server, ok := s.pool.release(r.mac, r.ciaddr, now)
	if !ok {
		return resultUnknown
	}
	l := netboot.Lease{Segment: s.cfg.Segment, Address: r.ciaddr, MAC: r.mac, Server: server, Expires: now}
	if err := s.put(ctx, l); err != nil {
		s.log.Error("lease not stored", "mac", r.mac, "address", r.ciaddr.String(), "err", err)
		return resultStoreError
	}
	return resultDone
}

// inform is RFC 2131 section 4.3.5: parameters for an address that the client has
// from elsewhere, so that there is neither yiaddr nor a lease time.
func (s *Server) inform(r *request, seg protocol.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	a := s.decide(r, seg, r.ciaddr)
	if a.Action == protocol.AnswerSilence {
		return nil, resultSilence
	}
	if !r.ciaddr.IsValid() {
		return nil, resultIgnored
	}
	p := newReply(r, seg, dhcpv4.MessageTypeAck)
	p.ClientIPAddr = r.ClientIPAddr
	network(p, seg, isBMCs(seg, a))
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, resultAck
}
