package netboot

import (
	"context"
	"net/netip"
	"time"
)

// Service6Mode is what the DHCPv6 server of a segment does.
type Service6Mode string

// The modes. The zero value is Service6Stateful.
const (
	Service6Stateful  Service6Mode = "stateful"  // addresses from the pool and boot data
	Service6Stateless Service6Mode = "stateless" // boot data for who has an address already (RFC 8415 section 6.1)
	Service6None      Service6Mode = "none"      // silence
)

// Segment6 is what a DHCPv6 server needs of a segment beyond its SegmentIntent.
type Segment6 struct {
	Mode   Service6Mode
	Prefix netip.Prefix
	// PoolFrom and PoolTo bound the dynamic addresses, both inclusive and in the same
	// /64. Stateless segments need none.
	PoolFrom, PoolTo netip.Addr
	// Address is the agent's own address on the segment, host of the boot URLs unless
	// BaseURL says otherwise, and stands in for DNS where that is empty. It is not
	// link-local: a URL cannot name the interface.
	Address netip.Addr
	DNS     []netip.Addr
	// BaseURL is scheme and authority of boot URLs, such as http://[2001:db8::1]:8080.
	BaseURL string
	// LeaseTime is the valid lifetime of leases; an hour if shorter than a second.
	LeaseTime time.Duration
	// RapidCommit allows the exchange of two messages (RFC 8415 section 18.3.1). A
	// client that takes another server's offer then leaves its lease with us.
	RapidCommit bool
}

// Resolver6 is a Resolver that knows the IPv6 side of segments.
type Resolver6 interface {
	Resolver
	// Segment6 is the segment now; ok is false while there is none, and then the
	// server stays silent. It is asked for each packet, and is safe for concurrent use.
	Segment6(name string) (seg Segment6, ok bool)
}

// Lease6 is one DHCPv6 binding.
type Lease6 struct {
	Segment string     `json:"segment"`
	Address netip.Addr `json:"address"`
	// Client is what the server knows the machine by: a MAC address, or uuid: and a
	// UUID where no MAC address was seen. IAID and DUID differ within one boot.
	Client string `json:"client"`
	// MAC is empty where none was seen.
	MAC     string    `json:"mac,omitempty"`
	Server  string    `json:"server,omitempty"`
	Expires time.Time `json:"expires"`
	// Declined marks an address that a client found in use; it is not offered
	// before Expires.
	Declined bool `json:"declined,omitempty"`
}

// LeaseStore6 keeps DHCPv6 leases, with the contract of LeaseStore: one per segment
// and address, on disk when Put6 and Delete6 return (RFC 8415 section 18.3: a REPLY
// commits). One value may implement both.
type LeaseStore6 interface {
	Load6(segment string) ([]Lease6, error)
	Put6(ctx context.Context, lease Lease6) error
	Delete6(ctx context.Context, lease Lease6) error
}
