// Package discover finds the BMCs of segments of role bmc and both: each that holds
// a lease, and each that answers in a range that the segment lists.
//
//	DHCP lease ──► Leased ─┐                        ┌─► Found, for the report
//	lease store ──────────►├─► table ──► ask root ──┤
//	scan of prefixes ──────┘                        └─► Changed
//
// All that is ever sent to an address is one unauthenticated GET of the Redfish
// service root (DSP0266 section 8.5), over TLS whose certificate is noted and not
// trusted. The package knows no credentials and follows no redirect. What comes
// back is a stranger's word: it is bounded, and stripped to what can be printed.
//
// Only addresses inside the segment's own prefix are asked, whatever the hub lists, and
// only through the interface that the agent's own file names for the segment.
//
// # Goroutines
//
// [Finder.Run] starts one for each segment, which scans, and at most scanAtOnce and
// leaseAtOnce more that ask. All end with it; those of a segment end when the
// segment goes away or changes.
package discover
