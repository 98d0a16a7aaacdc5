package dhcp

import (
	"context"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// decline is RFC 2131 section 4.3.3: the client found the address in use. declineRule says
// what becomes of it. A reserved address stays its machine's: one DECLINE, forged or not,
// must not keep a machine from its address, and the next DISCOVER, ten seconds later (RFC
// 2131 section 3.1 step 5), gets it again.
func (s *Server) decline(ctx context.Context, r *request, seg resource.SegmentIntent, svc netboot.Service) string {
	if r.server != r.serverID(seg.Address) {
		return resultElsewhere
	}
	given := s.pool.given(r.mac, r.asked, r.TransactionID, s.now())
	if given == declinedNone {
		return resultUnknown
	}
	budget := s.decliners.Allow(r.mac, s.now())
	if _, reserved := svc.Reservations.At(r.asked); reserved {
		if given != declinedJust {
			return resultLimited
		}
		return s.declineReserved(ctx, r, budget)
	}
	found := probeSkipped
	if budget && !r.giaddr.IsValid() {
		found = s.probe(ctx, r, r.asked)
	}
	hold := time.Duration(0)
	switch declineRule(given, budget, found) {
	case declineIgnore:
		return resultLimited
	case declineForget:
	case declineBrief:
		hold = briefHold
	case declineRest:
		hold = leasing.DeclineHold
	}
	until, ok := s.pool.decline(r.mac, r.asked, hold, s.now())
	if !ok {
		return resultUnknown
	}
	l := netboot.Lease{Segment: s.cfg.Segment, Address: r.asked, MAC: r.mac, Expires: until, Declined: true}
	s.ended(l)
	if hold == 0 {
		s.forget(ctx, l)
		return resultLimited
	}
	s.log.Warn("address declined", "mac", r.mac, "address", r.asked.String(), "probe", string(found), "until", until)
	if err := s.records.Put(ctx, l); err != nil {
		s.log.Error("lease not stored", "mac", r.mac, "address", r.asked.String(), "err", err)
		return resultStoreError
	}
	return resultDone
}

// declineReserved ends the binding of a reserved address, which stays its machine's.
func (s *Server) declineReserved(ctx context.Context, r *request, budget bool) string {
	until, ok := s.pool.decline(r.mac, r.asked, 0, s.now())
	if !ok {
		return resultUnknown
	}
	l := netboot.Lease{Segment: s.cfg.Segment, Address: r.asked, MAC: r.mac, Expires: until, Declined: true}
	s.ended(l)
	s.forget(ctx, l)
	if !budget {
		return resultLimited
	}
	s.log.Warn("reserved address declined", "mac", r.mac, "address", r.asked.String())
	s.answers.Notice(netboot.Notice{Kind: netboot.NoticeDeclined, Address: r.asked, MAC: r.mac})
	return resultDone
}

// release is RFC 2131 section 4.3.4. The binding is remembered for the MAC.
func (s *Server) release(ctx context.Context, r *request, seg resource.SegmentIntent) string {
	if r.server.IsValid() && r.server != r.serverID(seg.Address) {
		return resultElsewhere
	}
	now := s.now()
	server, ok := s.pool.release(r.mac, r.ciaddr, now)
	if !ok {
		return resultUnknown
	}
	l := netboot.Lease{Segment: s.cfg.Segment, Address: r.ciaddr, MAC: r.mac, Server: server, Expires: now}
	s.ended(l)
	if err := s.records.Put(ctx, l); err != nil {
		s.log.Error("lease not stored", "mac", r.mac, "address", r.ciaddr.String(), "err", err)
		return resultStoreError
	}
	return resultDone
}

// inform is RFC 2131 section 4.3.5: parameters for an address that the client has
// from elsewhere, so that there is neither yiaddr nor a lease time.
func (s *Server) inform(r *request, seg resource.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	a, _ := s.decide(r, seg, r.ciaddr)
	if a.Action == protocol.AnswerSilence {
		return nil, resultSilence
	}
	if !r.ciaddr.IsValid() {
		return nil, resultIgnored
	}
	if r.strange(seg.Prefix) {
		return nil, resultSubnet
	}
	p := newReply(r, seg, dhcpv4.MessageTypeAck)
	p.ClientIPAddr = r.ClientIPAddr
	network(p, seg, a)
	return s.made(p, r, seg, a, resultAck)
}
