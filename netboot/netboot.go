package netboot

import (
	"context"
	"io"
	"net/netip"
	"time"

	"rackboot/protocol"
)

// Resolver answers from local state within microseconds. It is safe for
// concurrent use.
type Resolver interface {
	// Segment is the policy of a segment now; ok is false while the agent has none
	// (not yet synced), and then the segment's servers stay silent.
	Segment(name string) (seg protocol.SegmentIntent, ok bool)
	// Resolve decides for one boot client. The DHCP server freezes the answer per
	// (MAC, xid) itself.
	Resolve(client protocol.BootClient) protocol.BootAnswer
}

// Lease is one DHCPv4 binding.
type Lease struct {
	Segment string     `json:"segment"`
	Address netip.Addr `json:"address"`
	MAC     string     `json:"mac"`
	Server  string     `json:"server,omitempty"`
	Expires time.Time  `json:"expires"`
	// Declined marks an address that a client found in use; it is not offered
	// before Expires.
	Declined bool `json:"declined,omitempty"`
}

// LeaseStore keeps leases, one per segment and address: a Put replaces what the
// store has for that address. Put and Delete are on disk when they return
// (RFC 2131 section 3.1 step 4: commit before DHCPACK). It is safe for concurrent
// use; concurrent Puts should share one fsync.
type LeaseStore interface {
	Load(segment string) ([]Lease, error)
	Put(ctx context.Context, lease Lease) error
	Delete(ctx context.Context, lease Lease) error
}

// Event is something that a boot client was seen to do.
type Event struct {
	Kind   protocol.EvidenceKind
	Client protocol.BootClient // for dhcp; MAC, Segment and Class set
	Token  string              // for fetched, installed, booted
	File   string              // for fetched
	Remote netip.Addr
	At     time.Time
}

// Evidence takes events. It never blocks; it is safe for concurrent use.
type Evidence interface {
	Record(Event)
}

// File is an open boot file. ServeContent semantics: seekable and complete.
type File struct {
	io.ReadSeekCloser
	Size        int64
	ContentType string // sent as it is, without parameters
	ETag        string // quoted
	ModTime     time.Time
}

// Files opens what an attempt's token may fetch. It returns a not_found error
// for an unknown token or name, and denied for a server that may not boot now.
type Files interface {
	Open(token, name string) (*File, error)
	// Report takes a report of the booted image ("installed", "booted"). It is
	// durable when it returns.
	Report(ctx context.Context, token, what string) error
}
