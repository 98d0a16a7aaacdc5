package netboot

import (
	"context"
	"io"
	"net/netip"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Resolver answers from local state within microseconds. It is safe for
// concurrent use.
type Resolver interface {
	// Segment is the policy of a segment now; ok is false while the agent has none
	// (not yet synced), and then the segment's servers stay silent.
	Segment(name string) (seg resource.SegmentIntent, ok bool)
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
// store has for those addresses, all of them or, with an error, none that it knows of.
// Put and Delete are on disk when they return (RFC 2131 section 3.1 step 4: commit
// before DHCPACK; RFC 8415 section 18.3: a REPLY commits). It is safe for concurrent
// use; concurrent Puts should share one fsync, and those of one call do.
type LeaseStore[L Lease | Lease6] interface {
	Load(segment string) ([]L, error)
	Put(ctx context.Context, leases ...L) error
	Delete(ctx context.Context, lease L) error
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

// File is an open boot file. ServeContent semantics: seekable and complete. An *os.File or
// a Section is sent by the kernel where the connection is plain.
type File struct {
	io.ReadSeekCloser
	Size int64
	// ContentType is sent as it is, without parameters; that of the name's
	// extension if empty.
	ContentType string
	ETag        string // quoted
	ModTime     time.Time
	// Token is the attempt's that a file of AddressFiles belongs to; it goes into
	// the event that the file was fetched.
	Token string
	// Sent, where it is set, takes in place of the evidence that a part of the file was
	// sent, and whether the whole was by now. It does not block.
	Sent func(bytes int64, whole bool)
}

// Files opens what an attempt's token may fetch.
type Files interface {
	// Open opens a file of the attempt: the first one, or a sibling of it that a
	// loader asks for next (grubx64.efi after shimx64.efi). The name is clean, as
	// that of AddressFiles. The token alone says whose file it is; remote says which
	// of the agent's addresses the client can reach, for files that name one: a
	// machine that boots over IPv6 has no other. It returns a not_found error for an
	// unknown token or name, and denied for a server that may not boot now, both
	// without reading a disk.
	Open(remote netip.Addr, token, name string) (*File, error)
	// Report takes a report of the booted image, which is valid, from a client at remote. It is
	// durable when it returns. An unknown token is a not_found error, who may not report gets
	// denied, and what comes too soon unavailable.
	Report(ctx context.Context, remote netip.Addr, token string, r protocol.ProbeReport) error
}
