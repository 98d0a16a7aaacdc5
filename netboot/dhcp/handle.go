package dhcp

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// handle answers one packet: the reply and where it goes, or nil for none.
func (s *Server) handle(ctx context.Context, raw []byte, peer netip.AddrPort) ([]byte, netip.AddrPort) {
	r, err := parse(raw, peer)
	if err != nil {
		s.metrics.packets.WithLabelValues(typeUnknown, resultMalformed).Inc()
		s.log.Debug("dhcp packet not understood", "peer", peer.String(), "err", err)
		return nil, netip.AddrPort{}
	}
	reply, result := s.answer(ctx, r)
	var out []byte
	if reply != nil {
		if out, err = encode(r, reply); err != nil {
			result = resultUnsendable
			s.log.Error("dhcp reply not sent", "mac", r.mac, "err", err, "hint", protocol.HintOf(err))
		}
	}
	s.metrics.packets.WithLabelValues(typeLabel(r.kind), result).Inc()
	s.log.Debug("dhcp packet", "mac", r.mac, "type", typeLabel(r.kind), "class", r.class, "result", result)
	if out == nil {
		return nil, netip.AddrPort{}
	}
	return out, destination(r, reply.MessageType())
}

// answer finds the reply and the result for the metrics.
func (s *Server) answer(ctx context.Context, r *request) (*dhcpv4.DHCPv4, string) {
	seg, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
	if !ok {
		return nil, resultNoSegment
	}
	if !seg.Address.Is4() || !seg.Prefix.Addr().Is4() {
		s.log.Error("segment is not IPv4", "address", seg.Address.String(), "prefix", seg.Prefix.String())
		return nil, resultNoSegment
	}
	if r.otherSubnet(seg.Prefix) {
		return nil, resultSubnet
	}
	switch r.kind {
	case dhcpv4.MessageTypeDiscover:
		return s.discover(r, seg)
	case dhcpv4.MessageTypeRequest:
		return s.request(ctx, r, seg)
	case dhcpv4.MessageTypeDecline:
		return nil, s.decline(ctx, r, seg)
	case dhcpv4.MessageTypeRelease:
		return nil, s.release(ctx, r, seg)
	case dhcpv4.MessageTypeInform:
		return s.inform(r, seg)
	}
	return nil, resultIgnored
}

// resolve asks who the client is, freezes the answer, and records that a boot
// client was seen, whatever the answer.
func (s *Server) resolve(r *request, addr netip.Addr, byUUID bool) protocol.BootAnswer {
	now := s.now()
	client := r.client(s.cfg.Segment, addr)
	if !byUUID {
		client.UUID = ""
	}
	key := freezeKey{mac: r.mac, xid: r.xid(), class: r.class}
	a, ok := s.frozen.get(key, now)
	if !ok {
		a = s.cfg.Resolver.Resolve(client)
		switch a.Action {
		case protocol.AnswerLease, protocol.AnswerBoot, protocol.AnswerRefuse:
			a = s.frozen.put(key, a, now)
		case protocol.AnswerSilence:
		default:
			s.log.Error("resolver gave no answer", "mac", r.mac, "action", a.Action)
			a.Action = protocol.AnswerSilence
		}
	}
	s.seen(r, client)
	return a
}

// seen records a boot client.
func (s *Server) seen(r *request, client protocol.BootClient) {
	if r.kind == dhcpv4.MessageTypeDiscover || r.kind == dhcpv4.MessageTypeRequest {
		s.cfg.Evidence.Record(netboot.Event{Kind: protocol.EvidenceDHCP, Client: client, Remote: r.peer.Addr(), At: s.now()})
	}
}

// discover is RFC 2131 section 4.3.1. A repeated DISCOVER gets the same address
// and, in the same exchange, the same boot data.
func (s *Server) discover(r *request, seg protocol.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	addr, fresh, ok := s.pool.offer(seg, r.mac, s.now())
	a := s.decide(r, seg, addr)
	if a.Action == protocol.AnswerSilence {
		if fresh {
			s.pool.withdraw(r.mac)
		}
		return nil, resultSilence
	}
	if !ok {
		s.log.Warn("dhcp pool exhausted", "mac", r.mac, "server", a.Server, "from", seg.PoolFrom.String(), "to", seg.PoolTo.String())
		return nil, resultExhausted
	}
	p := newReply(r, seg, dhcpv4.MessageTypeOffer)
	network(p, seg, isBMCs(seg, a))
	lease(p, addr, leaseTime(seg))
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, resultOffer
}
