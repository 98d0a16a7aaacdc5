package dhcp6

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// lease answers a REQUEST, RENEW or REBIND by leaseRule. The lease is on disk before
// there is a REPLY that grants it; without the write there is none, and the client
// asks again.
func (s *Server) lease(ctx context.Context, r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent) (*reply, string) {
	ia, ok := r.first()
	held := s.pool.Address(r.id, s.now())
	if !held.IsValid() && len(ia.addrs) > 0 {
		held = ia.addrs[0]
	}
	a, who := s.decide(r, in, held)
	s.seen(r, who, held)
	switch {
	case a.Action == protocol.AnswerSilence:
		return nil, resultSilence
	case len(r.ias) == 0:
		return nil, resultIgnored
	}
	sc := s.newScope(r, in, seg, a)
	p := s.newReply(r, dhcpv6.MessageTypeReply)
	if !ok { // only temporary addresses or prefixes
		p.associations(r, nil)
		return s.made(p, r, sc, a, resultReply)
	}
	out, want := s.outcome(r, sc, ia)
	addr := want
	switch out {
	case outcomeSilence:
		return nil, resultUnknown
	case outcomeNotOnLink, outcomeNoBinding:
		code, text := iana.StatusNoBinding, "no such lease"
		if out == outcomeNotOnLink {
			code, text = iana.StatusNotOnLink, "address is not on this link"
		}
		p.associations(r, func(ia association) dhcpv6.Option { return refused(ia, code, text) })
		return p, resultReply
	case outcomeGrant:
		ok = s.pool.claim(sc, r.id, want, s.now())
	case outcomeAssign, outcomeReplace:
		addr, ok = s.pool.offer(sc, r.id, s.now())
	}
	if !ok {
		p.associations(r, nil)
		return p, s.none(r, sc, a)
	}
	if failed := s.grant(ctx, r, ia, addr, a.Server, sc.leaseTime()); failed != "" {
		return nil, failed
	}
	var gone []netip.Addr
	for _, x := range ia.addrs {
		if x != addr && r.kind != dhcpv6.MessageTypeRequest {
			gone = append(gone, x)
		}
	}
	p.associations(r, func(ia association) dhcpv6.Option { return granted(ia, addr, sc.leaseTime(), gone) })
	return s.made(p, r, sc, a, resultReply)
}

// outcome applies leaseRule to the addresses of an IA: one that can be granted
// decides, else the first.
func (s *Server) outcome(r *request, sc scope, ia association) (outcome, netip.Addr) {
	now, kind := s.now(), typeLabel(r.kind)
	rule := func(a netip.Addr) outcome { return leaseRule(kind, sc.locate(a), s.pool.look(r.id, a, now)) }
	for _, a := range ia.addrs {
		if rule(a) == outcomeGrant {
			return outcomeGrant, a
		}
	}
	var a netip.Addr
	if len(ia.addrs) > 0 {
		a = ia.addrs[0]
	}
	return rule(a), a
}
