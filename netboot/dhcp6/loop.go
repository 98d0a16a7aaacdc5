package dhcp6

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot/leasing"
)

// loop runs the reader, the workers and the watch for routers until ctx ends or the
// DHCPv6 socket breaks. That the watch breaks is logged: the server is of use
// without it.
func (s *Server) loop(ctx context.Context) error {
	beside := []func(context.Context){s.forget} // what loading found to be over
	if s.adverts != nil {
		beside = append(beside, func(ctx context.Context) {
			if err := s.hear(ctx); err != nil {
				s.log.Error("router advertisements are not checked any more", "err", err)
			}
		}, s.checkRouters)
	}
	return leasing.NewQueue(s, s.metrics.Metrics, s.log).Run(ctx, workerCount, s.port, s.close, beside...)
}

func (s *Server) close() {
	_ = s.port.Close()
	if s.adverts != nil {
		_ = s.adverts.Close()
	}
}

// Answer implements leasing.Server. The mark says that the message was sent to a multicast
// address.
func (s *Server) Answer(ctx context.Context, p leasing.Packet[bool]) (netip.AddrPort, error) {
	out, to := s.respond(ctx, p.Data, p.From, p.Mark)
	if out == nil {
		return netip.AddrPort{}, nil
	}
	return to, s.port.WriteTo(out, to)
}

// Asker implements leasing.Server: the sender's address and the type of message. Behind a relay
// agent are many clients, who have no share each.
func (s *Server) Asker(data []byte, from netip.AddrPort) (a leasing.Asker) {
	if len(data) == 0 || dhcpv6.MessageType(data[0]) == dhcpv6.MessageTypeRelayForward {
		return a
	}
	return leasing.Asker{Client: from.Addr().As16(), Kind: data[0]}
}

// Writes implements leasing.Server: all but a SOLICIT, without rapid commit, and a question for
// information may wait for a lease. A relay's message says not at first sight what is in it.
func (s *Server) Writes(a leasing.Asker) bool {
	switch dhcpv6.MessageType(a.Kind) { //nolint:exhaustive // the others may
	case dhcpv6.MessageTypeInformationRequest:
		return false
	case dhcpv6.MessageTypeSolicit:
		seg, _ := s.cfg.Resolver.Segment(s.cfg.Segment)
		return seg.IPv6 != nil && seg.IPv6.RapidCommit
	}
	return true
}
