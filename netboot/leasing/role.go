package leasing

import (
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// client is a client that asked for a lease. Its methods are called at most once.
type client interface {
	// Resolve asks the agent who the client is, by the UUID that it sends too or not, and
	// returns the client to record as seen.
	Resolve(byUUID bool) (protocol.BootAnswer, *protocol.BootClient)
	// Seen is the client, of which the agent is not asked.
	Seen() *protocol.BootClient
}

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
// resolver also knows servers by a UUID, which a BMC may send of its host: it is not
// told that of a BMC's MAC. known is false for a role that this agent does not know.
func decide(seg resource.SegmentIntent, mac string, c client) (a protocol.BootAnswer, who *protocol.BootClient, known bool) {
	bmc := netboot.IsBMC(seg, mac)
	lease := protocol.BootAnswer{Action: protocol.AnswerLease, Reason: "BMC"}
	silence := protocol.BootAnswer{Action: protocol.AnswerSilence, Reason: "no BMC of this segment"}
	switch seg.Role {
	case "", resource.SegmentBoot:
		a, who = c.Resolve(true)
		return a, who, true
	case resource.SegmentBoth:
		a, who = c.Resolve(!bmc)
		if bmc && a.Action == protocol.AnswerSilence && a.Server == "" {
			a = lease
		}
		return a, who, true
	case resource.SegmentBMC:
		if bmc {
			return lease, nil, true
		}
		return silence, c.Seen(), true // a host that boots from here is worth knowing
	}
	return silence, nil, false
}

// BMCs says that the answer is the lease of a BMC: every other one names a server.
func BMCs(seg resource.SegmentIntent, a protocol.BootAnswer) bool {
	return netboot.HasBMCs(seg) && a.Action == protocol.AnswerLease && a.Server == ""
}
