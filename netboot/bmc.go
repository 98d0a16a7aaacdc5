package netboot

import (
	"net"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// minMACPrefix is the shortest prefix that names a maker: an OUI has three bytes.
const minMACPrefix = 3

// HasBMCs says whether a segment's role has BMCs on it. A role that is not known
// has nothing.
func HasBMCs(seg resource.SegmentIntent) bool {
	return seg.Role == resource.SegmentBMC || seg.Role == resource.SegmentBoth
}

// IsBMC says whether a machine with this MAC address, in lower case with colons, gets a
// lease as a BMC of the segment: its role has BMCs, and the address is one of
// BMCMACs or begins with one of BMCPrefixes. A prefix that is not at least three
// whole bytes fits nobody. Where the segment has servers too, the address of a
// server is a server's; that is for the caller to know.
func IsBMC(seg resource.SegmentIntent, mac string) bool {
	if !HasBMCs(seg) {
		return false
	}
	return IsNamedBMC(seg, mac) || slices.ContainsFunc(seg.BMCPrefixes, func(p string) bool { return hasMACPrefix(mac, p) })
}

// IsNamedBMC says whether a MAC address is one of the segment's BMCMACs: a BMC that was
// accepted, not one that only has the prefix of one.
func IsNamedBMC(seg resource.SegmentIntent, mac string) bool {
	return HasBMCs(seg) && slices.ContainsFunc(seg.BMCMACs, func(m string) bool { return strings.EqualFold(m, mac) })
}

// hasMACPrefix compares whole bytes. 3c:ec:ef: and 3c:ec:ef are the same prefix.
func hasMACPrefix(mac, prefix string) bool {
	prefix = strings.ToLower(strings.TrimSuffix(prefix, ":"))
	n := strings.Count(prefix, ":") + 1
	if n < minMACPrefix || n > 6 {
		return false
	}
	if _, err := net.ParseMAC(prefix + strings.Repeat(":00", 6-n)); err != nil {
		return false
	}
	return strings.HasPrefix(mac+":", prefix+":")
}
