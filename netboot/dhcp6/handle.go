package dhcp6

import (
	"context"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// respond answers one message; out is nil for silence.
func (s *Server) respond(ctx context.Context, in []byte, peer netip.AddrPort, multicast bool) (out []byte, to netip.AddrPort) {
	r, err := parse(in, peer, multicast)
	if err != nil {
		s.metrics.packets.WithLabelValues(typeUnknown, resultMalformed).Inc()
		s.log.Debug("dhcpv6 message not understood", "peer", peer.String(), "err", err)
		return nil, to
	}
	p, result := s.answer(ctx, r)
	if p != nil {
		if out, err = encode(r, p); err != nil {
			result = resultUnsendable
			s.log.Error("dhcpv6 reply not sent", "client", r.id, "err", err, "hint", protocol.HintOf(err))
		}
	}
	s.forget(ctx)
	s.metrics.packets.WithLabelValues(typeLabel(r.kind), result).Inc()
	s.traced(r, result)
	s.log.Debug("dhcpv6 message", "client", r.id, "type", typeLabel(r.kind), "class", r.class, "result", result)
	return out, route(r)
}

// answer finds the reply and the result for the metrics.
func (s *Server) answer(ctx context.Context, r *request) (*reply, string) {
	in, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
	if !ok || in.IPv6 == nil {
		return nil, resultNoSegment
	}
	seg := *in.IPv6
	if !plain6(seg.Address) || !plain6(seg.Prefix.Addr()) {
		s.log.Error("segment is not IPv6", "address", seg.Address.String(), "prefix", seg.Prefix.String())
		return nil, resultNoSegment
	}
	if r.otherSubnet(seg.Prefix) {
		return nil, resultSubnet
	}
	stateless := false
	switch seg.Mode {
	case "", resource.IPv6Stateful:
	case resource.IPv6Stateless:
		stateless = true
	case resource.IPv6None:
		return nil, resultSilence
	default:
		s.log.Error("segment has a DHCPv6 mode that this agent does not know", "mode", seg.Mode)
		return nil, resultSilence
	}
	switch s.judge(r) {
	case verdictDiscard:
		return nil, resultDiscard
	case verdictElsewhere:
		if r.kind == dhcpv6.MessageTypeRequest {
			s.pool.withdraw(r.id)
		}
		return nil, resultElsewhere
	case verdictMulticast:
		return s.useMulticast(r)
	case verdictAnswer:
	}
	if r.id == "" {
		return nil, resultUnidentified
	}
	if r.kind == dhcpv6.MessageTypeInformationRequest {
		return s.inform(r, in, seg)
	}
	if stateless {
		return nil, resultIgnored
	}
	switch typeLabel(r.kind) {
	case typeSolicit:
		return s.solicit(ctx, r, in, seg)
	case typeRequest, typeRenew, typeRebind:
		return s.lease(ctx, r, in, seg)
	case typeConfirm:
		return s.confirm(r, in, seg)
	case typeRelease:
		return s.release(ctx, r)
	case typeDecline:
		return s.decline(ctx, r, in, seg)
	}
	return nil, resultIgnored
}

// useMulticast is RFC 8415 section 18.4. Strangers get silence here too.
func (s *Server) useMulticast(r *request) (*reply, string) {
	if !s.pool.address(r.id, s.now()).IsValid() {
		return nil, resultSilence
	}
	p := s.newReply(r, dhcpv6.MessageTypeReply)
	p.add(status(iana.StatusUseMulticast, "send to ff02::1:2"))
	return p, resultMulticast
}

// resolve asks who the client is and freezes the answer.
func (s *Server) resolve(r *request, addr netip.Addr, byUUID bool) (told protocol.BootAnswer, who *protocol.BootClient) {
	defer func() { r.told, r.asker = told, who }()
	now := s.now()
	client := r.client(s.cfg.Segment, addr)
	if !byUUID {
		client.UUID = ""
	}
	asking := r.kind == dhcpv6.MessageTypeInformationRequest
	first := asking || r.kind == dhcpv6.MessageTypeSolicit
	key, xid := freezeKey{id: r.id, class: r.class, asking: asking}, r.number()
	for _, f := range []*frozen{s.frozen, s.promised} {
		if a, ok := f.get(key, xid, first, now); ok {
			return a, &client
		}
	}
	a := s.cfg.Resolver.Resolve(client)
	keep, other := s.frozen, s.promised
	if a.Server == "" {
		keep, other = other, keep
	}
	other.forget(key) // of an exchange before this one
	switch a.Action {
	case protocol.AnswerBoot:
		a = keep.put(key, xid, first, s.unloop(r, a), now)
	case protocol.AnswerLease, protocol.AnswerRefuse:
		a = keep.put(key, xid, first, a, now)
	case protocol.AnswerSilence:
	default:
		s.log.Error("resolver gave no answer", "client", r.id, "action", a.Action)
		a.Action = protocol.AnswerSilence
	}
	return a, &client
}

// seen records a boot client with the address that it holds or is offered.
func (s *Server) seen(r *request, who *protocol.BootClient, addr netip.Addr) {
	switch r.kind {
	case dhcpv6.MessageTypeSolicit, dhcpv6.MessageTypeRequest, dhcpv6.MessageTypeInformationRequest:
	default:
		return
	}
	if who == nil {
		return
	}
	who.Address = addr
	s.cfg.Evidence.Record(netboot.Event{Kind: protocol.EvidenceDHCP, Client: *who, Remote: r.peer.Addr(), At: s.now()})
}

// traced tells the caller what became of a message whose client was decided about.
func (s *Server) traced(r *request, result string) {
	if s.cfg.Trace == nil || r.asker == nil {
		return
	}
	s.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceDHCP, At: s.now(), Asked: typeLabel(r.kind), Client: *r.asker, Answered: result, Decision: r.told, V6: true,
	})
}

// notice tells the caller what somebody should know.
func (s *Server) notice(n netboot.Notice) {
	if s.cfg.Notify != nil {
		n.Segment, n.At = s.cfg.Segment, s.now()
		s.cfg.Notify(n)
	}
}

// made is the last step of a reply: what the answer says about booting.
func (s *Server) made(p *reply, r *request, sc scope, a protocol.BootAnswer, result string) (*reply, string) {
	if err := p.parameters(r, s.cfg.Segment, sc, a); err != nil {
		s.log.Error("dhcpv6 boot data not made", "client", r.id, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, result
}

// ended tells the caller that nobody has the address any more.
func (s *Server) ended(l netboot.Lease6) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(l)
	}
}

// put writes a lease. The write outlives the server's stop, so that what is on disk
// and what the client was told stay the same.
func (s *Server) put(ctx context.Context, l netboot.Lease6) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	err := s.cfg.Leases.Put6(ctx, l)
	if err != nil {
		s.log.Error("lease not stored", "client", l.Client, "address", l.Address.String(), "err", err)
	}
	return err
}

// forget deletes the leases of addresses that nobody has any more. One that stays is
// harmless: loading prefers the newer one of a machine.
func (s *Server) forget(ctx context.Context) {
	for {
		a, ok := s.pool.dropped(s.now())
		if !ok {
			return
		}
		s.remove(ctx, a)
		s.pool.left(a)
	}
}

func (s *Server) remove(ctx context.Context, a netip.Addr) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	l := netboot.Lease6{Segment: s.cfg.Segment, Address: a}
	s.ended(l)
	if err := s.cfg.Leases.Delete6(ctx, l); err != nil {
		s.log.Warn("old lease not deleted", "address", a.String(), "err", err)
	}
}

// grant holds the address for the client's identity association and has the lease on
// disk when it returns an empty result.
func (s *Server) grant(ctx context.Context, r *request, ia association, a netip.Addr, server string, d time.Duration) (result string) {
	l := s.leaseOf(r, a, server, s.now().Add(d))
	if s.put(ctx, l) != nil {
		s.pool.withdraw(r.id)
		return resultStoreError
	}
	if !s.pool.commit(l, r.holder(ia), s.now()) {
		return resultUnknown
	}
	if s.cfg.Granted != nil {
		s.cfg.Granted(l)
	}
	return ""
}
