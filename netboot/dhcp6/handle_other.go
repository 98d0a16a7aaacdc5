package dhcp6

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// inform is RFC 8415 section 18.3.6: parameters for an address that the client has
// from elsewhere.
func (s *Server) inform(r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent) (*reply, string) {
	addr := s.pool.Address(r.id, s.now())
	a, who := s.decide(r, in, addr)
	s.seen(r, who, addr)
	if a.Action == protocol.AnswerSilence {
		return nil, resultSilence
	}
	return s.made(s.newReply(r, dhcpv6.MessageTypeReply), r, s.newScope(r, in, seg, a), a, resultReply)
}

// confirm is RFC 8415 section 18.3.3: whether the addresses are on the link. It says
// nothing about leases.
func (s *Server) confirm(r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent) (*reply, string) {
	if a, _ := s.decide(r, in, s.pool.Address(r.id, s.now())); a.Action == protocol.AnswerSilence {
		return nil, resultSilence
	}
	named := 0
	st := status(iana.StatusSuccess, "")
	for _, ia := range r.ias {
		for _, a := range ia.addrs {
			if named++; !seg.Prefix.Contains(a) {
				st = status(iana.StatusNotOnLink, "address is not on this link")
			}
		}
	}
	if named == 0 {
		return nil, resultIgnored
	}
	p := s.newReply(r, dhcpv6.MessageTypeReply)
	p.add(st)
	return p, resultReply
}

// release is RFC 8415 section 18.3.7. The binding is remembered for the machine. An
// address that another identity association of the machine has stays leased.
func (s *Server) release(ctx context.Context, r *request) (*reply, string) {
	return s.giveBack(r, func(ia association, a netip.Addr) (ok bool, err error) {
		now := s.now()
		server, came := s.pool.release(r.id, r.holder(ia), a, now)
		if came != releaseFreed {
			return came == releaseHeld, nil
		}
		l := s.leaseOf(r, a, server, now)
		s.ended(l)
		return true, s.put(ctx, l)
	})
}

// decline is RFC 8415 section 18.3.8: the client found the address in use. It is not
// offered for leasing.DeclineHold, also after a restart. Only one that was granted within
// declineWindow, and within the budgets of the client and the segment, is heeded; else the
// client is told success, as RFC 8415 wants it, and keeps what it had.
func (s *Server) decline(ctx context.Context, r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent) (*reply, string) {
	sc := s.newScope(r, in, seg, protocol.BootAnswer{})
	return s.giveBack(r, func(_ association, a netip.Addr) (ok bool, err error) {
		now := s.now()
		just, ok := s.pool.given(r.id, a, now)
		if !ok || !just || !s.decliners.Allow(r.id, now) {
			return ok, nil
		}
		until, ok := s.pool.decline(sc, r.id, a, now)
		if !ok {
			return false, nil
		}
		s.log.Warn("address declined", "client", r.id, "address", a.String(), "until", until)
		l := s.leaseOf(r, a, "", until)
		l.Declined = true
		s.ended(l)
		return true, s.put(ctx, l)
	})
}

// giveBack takes back the addresses of a message, and answers with success and, for
// each IA without a lease of ours, that there is no binding. Who has no lease at all
// is a stranger, and gets silence.
func (s *Server) giveBack(r *request, take func(association, netip.Addr) (ok bool, err error)) (*reply, string) {
	p := s.newReply(r, dhcpv6.MessageTypeReply)
	p.add(status(iana.StatusSuccess, ""))
	taken := 0
	for _, ia := range r.ias {
		found := false
		for _, a := range ia.addrs {
			ok, err := take(ia, a)
			if err != nil {
				return nil, resultStoreError
			}
			found = found || ok
		}
		if found {
			taken++
			continue
		}
		p.add(refused(ia, iana.StatusNoBinding, "no such lease"))
	}
	if taken == 0 {
		return nil, resultUnknown
	}
	return p, resultReply
}
