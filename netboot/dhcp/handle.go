package dhcp

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// respondLater answers one packet, whose bytes it does not keep; boot says that it came to the port of PXE boot
// servers. If later is not nil, an answer that waits for the disk may be given to it, once, in place of being returned.
func (s *Server) respondLater(ctx context.Context, raw []byte, peer netip.AddrPort, boot bool, later func(reply)) reply {
	r, err := parse(raw, peer)
	if err != nil {
		s.metrics.Packets.WithLabelValues(typeUnknown, resultMalformed).Inc()
		s.log.Debug("dhcp packet not understood", "peer", peer.String(), "err", err)
		return reply{}
	}
	r.boot, r.later = boot, later
	p, result := s.answer(ctx, r)
	if result == resultLater {
		return reply{}
	}
	return s.conclude(r, p, result)
}

// conclude counts and tells what became of a packet, and makes its reply.
func (s *Server) conclude(r *request, p *dhcpv4.DHCPv4, result string) reply {
	var out []byte
	if p != nil {
		var err error
		if out, err = encode(r, p); err != nil {
			result = resultUnsendable
			s.log.Error("dhcp reply not sent", "mac", r.mac, "err", err, "hint", protocol.HintOf(err))
		}
	}
	s.metrics.Packets.WithLabelValues(typeLabel(r.kind), result).Inc()
	s.answers.Traced(r.question, typeLabel(r.kind), result)
	if s.log.Enabled(context.Background(), slog.LevelDebug) { // its fields are allocated
		s.log.Debug("dhcp packet", "mac", r.mac, "type", typeLabel(r.kind), "class", r.class, "result", result)
	}
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
