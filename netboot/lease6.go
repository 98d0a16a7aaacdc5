package netboot

import (
	"context"
	"net/netip"
	"time"
)

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
