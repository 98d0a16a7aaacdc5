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

// request answers a DHCPREQUEST by requestRule.
func (s *Server) request(ctx context.Context, r *request, seg resource.SegmentIntent, svc netboot.Service) (*dhcpv4.DHCPv4, string) {
	st, want, ok := stateOf(r)
	held := s.pool.Address(r.mac, s.now())
	if !held.IsValid() {
		held = want
	}
	a, who := s.decide(r, seg, held)
	s.seen(r, who, held)
	switch {
	case r.server.IsValid() && r.server != r.serverID(seg.Address):
		s.foreign(r.server, foundRequest)
		s.pool.withdraw(r.mac)
		return nil, resultElsewhere
	case a.Action == protocol.AnswerSilence:
		return nil, resultSilence
	case !ok:
		return nil, resultIgnored
	}
	now := s.now()
	sc := newScope(r, seg, svc, a)
	pl, hold := s.locate(r, sc, want, now), s.pool.look(sc, r.mac, want, now)
	switch requestRule(st, pl, hold, svc.Authoritative) {
	case outcomeGrant:
		return s.grant(ctx, r, sc, a, want)
	case outcomeRecover:
		return s.recover(ctx, r, sc, a, want)
	case outcomeNak:
		return nak(r, seg, why(pl, hold)), resultNak
	case outcomeSilence:
	}
	return nil, resultUnknown
}

// recover grants an address of ours that we know nothing of, if a probe finds that
// nobody but the client uses it. Where no probe is possible there is silence: the
// client starts anew by itself (RFC 2131 section 4.3.2).
func (s *Server) recover(ctx context.Context, r *request, sc scope, a protocol.BootAnswer, want netip.Addr) (*dhcpv4.DHCPv4, string) {
	if want == sc.mine {
		return s.grant(ctx, r, sc, a, want)
	}
	if r.giaddr.IsValid() {
		return nil, resultUnknown
	}
	switch s.probe(ctx, r, want) {
	case probeFree:
		return s.grant(ctx, r, sc, a, want)
	case probeUsed:
		return nak(r, sc.seg, why(placeHere, leasing.HoldForeign)), resultNak
	case probeSkipped:
	}
	return nil, resultUnknown
}

// grant writes the lease and only then makes the ACK (RFC 2131 section 3.1 step
// 4). Without the write there is no ACK: the client asks again. Of a packet whose answer may be
// given later, whoever wrote the lease makes and sends the ACK.
func (s *Server) grant(ctx context.Context, r *request, sc scope, a protocol.BootAnswer, addr netip.Addr) (*dhcpv4.DHCPv4, string) {
	now := s.now()
	old, ok := s.pool.claim(sc, r.mac, addr, now)
	if !ok {
		return nak(r, sc.seg, why(placeHere, leasing.HoldForeign)), resultNak
	}
	l := netboot.Lease{Segment: s.cfg.Segment, Address: addr, MAC: r.mac, Server: a.Server, Expires: now.Add(sc.leaseTime())}
	g := granted{r: r, sc: sc, answer: a, lease: l, old: old}
	if r.later == nil {
		return g.written(ctx, s, s.records.Put(ctx, l))
	}
	s.writer.Put(ctx, leasing.Written[netboot.Lease]{Lease: l, Then: func(ctx context.Context, err error) {
		defer s.metrics.Recover(s.log)
		p, result := g.written(ctx, s, err)
		r.later(s.conclude(r, p, result))
	}})
	return nil, resultLater
}

// granted is a lease that is on its way to the disk.
type granted struct {
	r      *request
	sc     scope
	answer protocol.BootAnswer
	lease  netboot.Lease
	old    netip.Addr // that its client leaves; invalid if it had no other
}

// written makes the ACK of a lease that is on disk, unless there was an error of writing it.
func (g granted) written(ctx context.Context, s *Server, err error) (*dhcpv4.DHCPv4, string) {
	r, sc, a, l, old := g.r, g.sc, g.answer, g.lease, g.old
	if err != nil {
		s.pool.withdraw(r.mac)
		s.log.Error("lease not stored", "mac", r.mac, "address", l.Address.String(), "err", err)
		return nil, resultStoreError
	}
	s.pool.commit(l, sc, r.TransactionID, s.now())
	if s.cfg.Granted != nil {
		s.cfg.Granted(l)
	}
	if old.IsValid() {
		gone := netboot.Lease{Segment: s.cfg.Segment, Address: old, MAC: r.mac}
		s.ended(gone)
		s.forget(ctx, gone)
		s.pool.Left(old)
	}
	p := newReply(r, sc.seg, dhcpv4.MessageTypeAck)
	if r.ciaddr.IsValid() {
		p.ClientIPAddr = r.ClientIPAddr
	}
	network(p, sc.seg, a)
	lease(p, l.Address, sc.leaseTime())
	return s.made(p, r, sc.seg, a, resultAck)
}
