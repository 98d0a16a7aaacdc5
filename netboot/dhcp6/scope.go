package dhcp6

import (
	"encoding/binary"
	"hash/fnv"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// scope is which addresses of a segment one client may have.
type scope struct {
	seg   resource.SegmentIPv6Intent
	guest bool // the client is no machine of ours
	bmc   bool
	kept  int // how many addresses of the pool are kept from guests
}

func (s *Server) newScope(r *request, in resource.SegmentIntent, seg resource.SegmentIPv6Intent, a protocol.BootAnswer) scope {
	bmc := leasing.BMCs(in, a) && netboot.IsBMC(in, r.mac)
	sc := scope{seg: seg, guest: a.Server == "" && !bmc, bmc: bmc}
	if sv, ok := s.cfg.Resolver.(netboot.Servicer); ok {
		sc.kept = sv.Service(in.Name).Machines
	}
	return sc
}

// guests is how many of them may have an address.
func (sc scope) guests() int {
	_, size := sc.pool()
	if size <= uint64(sc.kept) {
		return 0
	}
	return int(min(size/leasing.GuestShare, size-uint64(sc.kept), maxGuests))
}

// pool is the first address and how many there are; zero if the range is empty, not
// IPv6, or wider than a /64. The last address of a whole /64 is not counted.
func (sc scope) pool() (from netip.Addr, size uint64) {
	f, t := sc.seg.PoolFrom, sc.seg.PoolTo
	if !plain6(f) || !plain6(t) || t.Less(f) || upper(f) != upper(t) {
		return netip.Addr{}, 0
	}
	return f, min(lower(t)-lower(f), math.MaxUint64-1) + 1
}

func upper(a netip.Addr) uint64 {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8])
}

func lower(a netip.Addr) uint64 {
	b := a.As16()
	return binary.BigEndian.Uint64(b[8:])
}

func nth(from netip.Addr, i uint64) netip.Addr {
	b := from.As16()
	binary.BigEndian.PutUint64(b[8:], lower(from)+i)
	return netip.AddrFrom16(b)
}

// plain6 says that the address is IPv6, and without a zone.
func plain6(a netip.Addr) bool { return a.Is6() && !a.Is4In6() && a.Zone() == "" }

// usable says that the address may be given to a client: in the pool and on the
// link, not one of ours, and not the anycast address of routers (RFC 4291 section
// 2.6.1).
func (sc scope) usable(a netip.Addr) bool {
	_, size := sc.pool()
	return size > 0 && plain6(a) && !a.Less(sc.seg.PoolFrom) && !sc.seg.PoolTo.Less(a) &&
		sc.seg.Prefix.Contains(a) && a != sc.seg.Prefix.Masked().Addr() && a != sc.seg.Address && !slices.Contains(sc.seg.DNS, a)
}

// candidates are the addresses of the pool that the machine may have, from its own place in
// the pool on, which a hash of it gives.
func (sc scope) candidates(id string) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		from, size := sc.pool()
		if size == 0 {
			return
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(id)) // fnv never fails
		for i, start := uint64(0), h.Sum64()%size; i < min(size, maxSearch); i++ {
			// Below the start the sum wraps; the difference cannot.
			at := start + i
			if start >= size-i {
				at = start - (size - i)
			}
			if a := nth(from, at); sc.usable(a) && !yield(a) {
				return
			}
		}
	}
}

// leaseTime is the valid lifetime, which is the preferred one too.
func (sc scope) leaseTime() time.Duration {
	return min(leasing.Time(sc.seg.LeaseTime, sc.guest), time.Duration(math.MaxUint32-1)*time.Second) // all ones is infinity
}
