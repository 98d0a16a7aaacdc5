package dhcp6

import (
	"net/netip"

	"rackboot/netboot"
	"rackboot/protocol"
)

// decide finds the answer for a client by the role of the segment, and the client to
// record as seen, nil if it is none:
//
//	role | MAC of a server | of a BMC | of both  | of neither
//	boot | resolver        | resolver | resolver | resolver
//	bmc  | silence         | lease    | lease    | silence
//	both | resolver        | lease    | resolver | resolver
//	?    | silence         | silence  | silence  | silence
//
// A BMC's lease never has boot data, whatever class the client says it is of. The
// resolver also knows servers by the UUID of a DUID, which a BMC may send of its
// host: it is not told that of a BMC's MAC.
func (s *Server) decide(r *request, seg protocol.SegmentIntent, addr netip.Addr) (protocol.BootAnswer, *protocol.BootClient) {
	bmc := netboot.IsBMC(seg, r.mac)
	lease := protocol.BootAnswer{Action: protocol.AnswerLease, Reason: "BMC"}
	silence := protocol.BootAnswer{Action: protocol.AnswerSilence, Reason: "no BMC of this segment"}
	switch seg.Role {
	case "", protocol.SegmentBoot:
		return s.resolve(r, addr, true)
	case protocol.SegmentBoth:
		a, who := s.resolve(r, addr, !bmc)
		if bmc && a.Action == protocol.AnswerSilence && a.Server == "" {
			return lease, who
		}
		return a, who
	case protocol.SegmentBMC:
		if bmc {
			return lease, nil
		}
		who := r.client(s.cfg.Segment, addr)
		return silence, &who // a host that boots from here is worth knowing
	}
	s.log.Error("segment has a role that this agent does not know", "role", seg.Role)
	return silence, nil
}

// isBMCs says that the answer is the lease of a BMC: every other one names a server.
func isBMCs(seg protocol.SegmentIntent, a protocol.BootAnswer) bool {
	return netboot.HasBMCs(seg) && a.Action == protocol.AnswerLease && a.Server == ""
}
