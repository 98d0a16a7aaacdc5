package dhcp

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"rackboot/protocol/resource"
)

// maxPool bounds the search for a free address: a /16.
const maxPool = 1 << 16

// poolRange is the first address of the pool and how many there are; zero if the
// range is not IPv4 or empty.
func poolRange(seg resource.SegmentIntent) (from netip.Addr, size uint32) {
	if !seg.PoolFrom.Is4() || !seg.PoolTo.Is4() || seg.PoolTo.Less(seg.PoolFrom) {
		return netip.Addr{}, 0
	}
	return seg.PoolFrom, min(number(seg.PoolTo)-number(seg.PoolFrom), maxPool-1) + 1
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func nth(from netip.Addr, i uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number(from)+i)
	return netip.AddrFrom4(b)
}

// usable says that the address may be given to any client: in the pool and
// assignable.
func usable(seg resource.SegmentIntent, a netip.Addr) bool {
	return a.Is4() && !a.Less(seg.PoolFrom) && !seg.PoolTo.Less(a) && assignable(seg, a)
}

// assignable says that a client of the segment may have the address: in the prefix,
// and neither its network or broadcast address nor one of ours.
func assignable(seg resource.SegmentIntent, a netip.Addr) bool {
	if !a.Is4() || !seg.Prefix.Contains(a) || a == seg.Address {
		return false
	}
	if seg.Prefix.Bits() < 31 { // RFC 3021: a /31 has neither
		if a == seg.Prefix.Masked().Addr() || a == lastAddr(seg.Prefix) {
			return false
		}
	}
	return !slices.Contains(seg.Routers, a) && !slices.Contains(seg.DNS, a)
}

func lastAddr(p netip.Prefix) netip.Addr {
	return nth(p.Masked().Addr(), ^uint32(0)>>p.Bits())
}
