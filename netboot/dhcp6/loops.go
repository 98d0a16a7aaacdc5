package dhcp6

import (
	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/protocol"
)

// unloop turns the answer into a refusal if its client was offered the same boot too
// often. Only what begins an exchange counts.
func (s *Server) unloop(r *request, a protocol.BootAnswer) protocol.BootAnswer {
	more := 0
	if r.kind == dhcpv6.MessageTypeSolicit || r.kind == dhcpv6.MessageTypeInformationRequest {
		more = 1
	}
	n := s.loops.Count(guard.Boot{Client: r.id, Class: r.class, Token: a.Token, File: a.File}, more, s.now())
	if n <= guard.MaxOffers {
		return a
	}
	s.metrics.Loops.WithLabelValues(string(r.class)).Add(float64(more))
	if n == guard.MaxOffers+1 && more > 0 {
		s.log.Warn("boot loop refused", "mac", r.mac, "server", a.Server, "class", r.class, "offers", guard.MaxOffers)
		s.notice(netboot.Notice{Kind: netboot.NoticeBootLoop, MAC: r.mac, Server: a.Server})
	}
	return protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: a.Server, Reason: "boot loop"}
}
