package netboot

import "rackboot/protocol/resource"

// Service is what the DHCPv4 server of a segment needs beyond its SegmentIntent.
// The zero value is a full server without reservations.
type Service struct {
	Mode resource.ServiceMode // empty is full
	// Reservations may be nil.
	Reservations *Reservations
	// Authoritative says that no other server leases addresses on the segment: a
	// client that wants one we know nothing of gets a DHCPNAK instead of silence.
	// It has no effect in proxy mode.
	Authoritative bool
	// Machines is how many machines of ours may need an address of the segment's pool: so
	// many are kept from clients that nobody named.
	Machines int
}

// Servicer is what a Resolver implements whose segments have a Service. It is
// asked for each packet, and is safe for concurrent use. Without it each segment
// has the zero Service.
type Servicer interface {
	Service(segment string) Service
}
