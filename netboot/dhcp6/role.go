package dhcp6

import (
	"net/netip"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// asker is the client of a message, for [guard.Decide].
type asker struct {
	server *Server
	*request
	addr netip.Addr
}

func (a asker) Resolve(byUUID bool) (protocol.BootAnswer, *protocol.BootClient) {
	return a.server.resolve(a.request, a.addr, byUUID)
}

func (a asker) Seen() *protocol.BootClient {
	who := a.client(a.server.cfg.Segment, a.addr)
	return &who
}

// decide finds the answer for a client by the role of the segment, and the client to
// record as seen, nil if it is none.
func (s *Server) decide(r *request, seg resource.SegmentIntent, addr netip.Addr) (protocol.BootAnswer, *protocol.BootClient) {
	a, who, known := guard.Decide(seg, r.mac, asker{s, r, addr})
	if !known {
		s.log.Error("segment has a role that this agent does not know", "role", seg.Role)
	}
	return a, who
}

func (s *Server) newScope(r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent, a protocol.BootAnswer) scope {
	bmc := guard.BMCs(in, a) && netboot.IsBMC(in, r.mac)
	sc := scope{seg: seg, guest: a.Server == "" && !bmc, bmc: bmc}
	if sv, ok := s.cfg.Resolver.(netboot.Servicer); ok {
		sc.kept = sv.Service(in.Name).Machines
	}
	return sc
}
