package dhcp

import (
	"context"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// discover is RFC 2131 section 4.3.1. A repeated DISCOVER gets the same address
// and, in the same exchange, the same boot data. Who gets silence touches no
// address: DISCOVERs from random MAC addresses leave the pool as it is.
func (s *Server) discover(ctx context.Context, r *request, seg resource.SegmentIntent, svc netboot.Service) (*dhcpv4.DHCPv4, string) {
	held := s.pool.Address(r.mac, s.now())
	a, who := s.decide(r, seg, held)
	if a.Action == protocol.AnswerSilence {
		s.seen(r, who, held)
		return nil, resultSilence
	}
	if s.probing.has(r.mac) {
		return nil, resultIgnored
	}
	sc := newScope(r, seg, svc, a)
	addr, fresh, ok := s.pool.offer(sc, r.mac, s.now())
	result := resultExhausted
	if ok && fresh && addr != sc.mine && !r.giaddr.IsValid() {
		addr, result = s.vacate(ctx, r, sc, addr)
		ok = addr.IsValid()
	}
	s.seen(r, who, addr)
	switch {
	case ok:
		s.pool.told(r.mac, r.TransactionID, s.now())
	case sc.guest:
		return nil, resultGuests
	case sc.only:
		s.log.Warn("no reservation for a machine of ours", "mac", r.mac, "server", a.Server)
		s.short(r, sc, a.Server)
		return nil, resultUnreserved
	default:
		if result == resultExhausted {
			s.log.Warn("dhcp pool exhausted", "mac", r.mac, "server", a.Server, "from", seg.PoolFrom.String(), "to", seg.PoolTo.String())
		}
		s.short(r, sc, a.Server)
		return nil, result
	}
	p := newReply(r, seg, dhcpv4.MessageTypeOffer)
	network(p, seg, a)
	lease(p, addr, sc.leaseTime())
	return s.made(p, r, seg, a, resultOffer)
}
