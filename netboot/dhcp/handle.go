package dhcp

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// respond answers one packet; boot says that it came to the port of PXE boot
// servers.
func (s *Server) respond(ctx context.Context, raw []byte, peer netip.AddrPort, boot bool) reply {
	r, err := parse(raw, peer)
	if err != nil {
		s.metrics.packets.WithLabelValues(typeUnknown, resultMalformed).Inc()
		s.log.Debug("dhcp packet not understood", "peer", peer.String(), "err", err)
		return reply{}
	}
	r.boot = boot
	p, result := s.answer(ctx, r)
	var out []byte
	if p != nil {
		if out, err = encode(r, p); err != nil {
			result = resultUnsendable
			s.log.Error("dhcp reply not sent", "mac", r.mac, "err", err, "hint", protocol.HintOf(err))
		}
	}
	s.metrics.packets.WithLabelValues(typeLabel(r.kind), result).Inc()
	s.traced(r, result)
	s.log.Debug("dhcp packet", "mac", r.mac, "type", typeLabel(r.kind), "class", r.class, "result", result)
	if out == nil {
		return reply{}
	}
	return route(r, p, out)
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
	svc := s.service()
	switch svc.Mode {
	case "", resource.ServiceFull, resource.ServiceReservations:
	case resource.ServiceProxy:
		return s.proxy(r, seg)
	case resource.ServiceNone:
		return nil, resultSilence
	default:
		s.log.Error("segment has a service mode that this agent does not know", "mode", svc.Mode)
		return nil, resultSilence
	}
	if r.boot {
		return s.bootServer(r, seg)
	}
	switch r.kind {
	case dhcpv4.MessageTypeDiscover:
		return s.discover(ctx, r, seg, svc)
	case dhcpv4.MessageTypeRequest:
		return s.request(ctx, r, seg, svc)
	case dhcpv4.MessageTypeDecline:
		return nil, s.decline(ctx, r, seg, svc)
	case dhcpv4.MessageTypeRelease:
		return nil, s.release(ctx, r, seg)
	case dhcpv4.MessageTypeInform:
		return s.inform(r, seg)
	}
	return nil, resultIgnored
}

// service is the segment's now.
func (s *Server) service() netboot.Service {
	if sv, ok := s.cfg.Resolver.(netboot.Servicer); ok {
		return sv.Service(s.cfg.Segment)
	}
	return netboot.Service{}
}

// resolve asks who the client is and freezes the answer.
func (s *Server) resolve(r *request, addr netip.Addr, byUUID bool) (told protocol.BootAnswer, who *protocol.BootClient) {
	defer func() { r.told, r.asker = told, who }()
	now := s.now()
	client := r.client(s.cfg.Segment, addr)
	if !byUUID {
		client.UUID = ""
	}
	key := freezeKey{mac: r.mac, xid: r.xid(), class: r.class}
	if a, ok := s.frozen.get(key, now); ok {
		return a, &client
	}
	if a, ok := s.promised.get(key, now); ok {
		return a, &client
	}
	a := s.cfg.Resolver.Resolve(client)
	keep := s.frozen
	if a.Server == "" {
		keep = s.promised
	}
	switch a.Action {
	case protocol.AnswerBoot:
		a = keep.put(key, s.unloop(r, a), now)
	case protocol.AnswerLease, protocol.AnswerRefuse:
		a = keep.put(key, a, now)
	case protocol.AnswerSilence:
	default:
		s.log.Error("resolver gave no answer", "mac", r.mac, "action", a.Action)
		a.Action = protocol.AnswerSilence
	}
	return a, &client
}

// seen records a boot client with the address that it holds or is offered.
func (s *Server) seen(r *request, who *protocol.BootClient, addr netip.Addr) {
	if who == nil || r.kind != dhcpv4.MessageTypeDiscover && r.kind != dhcpv4.MessageTypeRequest {
		return
	}
	who.Address = addr
	s.cfg.Evidence.Record(netboot.Event{Kind: protocol.EvidenceDHCP, Client: *who, Remote: r.peer.Addr(), At: s.now()})
}

// traced tells the caller what became of a packet whose client was decided about.
func (s *Server) traced(r *request, result string) {
	if s.cfg.Trace == nil || r.asker == nil {
		return
	}
	s.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceDHCP, At: s.now(), Asked: typeLabel(r.kind), Client: *r.asker, Answered: result, Decision: r.told,
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
func (s *Server) made(p *dhcpv4.DHCPv4, r *request, seg resource.SegmentIntent, a protocol.BootAnswer, result string) (*dhcpv4.DHCPv4, string) {
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, result
}
