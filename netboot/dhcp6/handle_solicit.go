package dhcp6

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// solicit is RFC 8415 section 18.3.1. A repeated SOLICIT gets the same address and, in
// the same exchange, the same boot data. Who gets silence touches no address:
// SOLICITs from random DUIDs leave the pool as it is.
func (s *Server) solicit(ctx context.Context, r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent) (*reply, string) {
	held := s.pool.Address(r.id, s.now())
	a, who := s.decide(r, in, held)
	if a.Action == protocol.AnswerSilence {
		s.seen(r, who, held)
		return nil, resultSilence
	}
	if len(r.ias) == 0 {
		return nil, resultIgnored
	}
	sc := s.newScope(r, in, seg, a)
	var addr netip.Addr
	ia, wanted := r.first()
	ok := !wanted
	if wanted {
		addr, ok = s.pool.offer(sc, r.id, s.now())
	}
	s.seen(r, who, addr)
	if !ok {
		result := s.none(r, sc, a)
		if sc.guest {
			return nil, result
		}
		p := s.newReply(r, dhcpv6.MessageTypeAdvertise)
		p.associations(r, nil)
		return p, result
	}
	kind, result := dhcpv6.MessageTypeAdvertise, resultAdvertise
	if addr.IsValid() && seg.RapidCommit && r.has(dhcpv6.OptionRapidCommit) {
		kind, result = dhcpv6.MessageTypeReply, resultReply
		if failed := s.grant(ctx, r, ia, addr, a.Server, sc.leaseTime()); failed != "" {
			return nil, failed
		}
	}
	p := s.newReply(r, kind)
	if kind == dhcpv6.MessageTypeReply {
		p.add(raw(dhcpv6.OptionRapidCommit, nil))
	} else if addr.IsValid() {
		p.add(raw(dhcpv6.OptionPreference, []byte{preferenceNow}))
	}
	p.associations(r, func(ia association) dhcpv6.Option { return granted(ia, addr, sc.leaseTime(), nil) })
	return s.made(p, r, sc, a, result)
}

// none says why there is no address.
func (s *Server) none(r *request, sc scope, a protocol.BootAnswer) string {
	if sc.guest {
		return resultGuests
	}
	s.log.Warn("dhcpv6 pool exhausted", "client", r.id, "server", a.Server, "from", sc.seg.PoolFrom.String(), "to", sc.seg.PoolTo.String())
	if s.shortages.Tell(r.id, s.now()) {
		s.answers.Notice(netboot.Notice{Kind: netboot.NoticeNoAddress, MAC: r.mac, Server: a.Server})
	}
	return resultExhausted
}

// first is the IA_NA that gets the machine's address.
func (r *request) first() (association, bool) {
	for _, ia := range r.ias {
		if ia.code == dhcpv6.OptionIANA {
			return ia, true
		}
	}
	return association{}, false
}

// associations answers each identity association: the first IA_NA by first, if that
// is not nil, and each other with the status that it gets nothing. A machine has one
// address, whatever it asks for.
func (p *reply) associations(r *request, first func(association) dhcpv6.Option) {
	for _, ia := range r.ias {
		switch {
		case ia.code == dhcpv6.OptionIAPD:
			p.add(refused(ia, iana.StatusNoPrefixAvail, "no prefixes here"))
		case ia.code == dhcpv6.OptionIANA && first != nil:
			p.add(first(ia))
			first = nil
		default:
			p.add(refused(ia, iana.StatusNoAddrsAvail, "no address"))
		}
	}
}
