package dhcp6

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// respond answers one message; out is nil for silence.
func (s *Server) respond(ctx context.Context, in []byte, peer netip.AddrPort, multicast bool) (out []byte, to netip.AddrPort) {
	r, err := parse(in, peer, multicast)
	if err != nil {
		s.metrics.Packets.WithLabelValues(typeUnknown, resultMalformed).Inc()
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
	s.metrics.Packets.WithLabelValues(typeLabel(r.kind), result).Inc()
	s.answers.Traced(r.question, typeLabel(r.kind), result)
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
	if !s.pool.Address(r.id, s.now()).IsValid() {
		return nil, resultSilence
	}
	p := s.newReply(r, dhcpv6.MessageTypeReply)
	p.add(status(iana.StatusUseMulticast, "send to ff02::1:2"))
	return p, resultMulticast
}
