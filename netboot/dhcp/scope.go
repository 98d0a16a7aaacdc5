package dhcp

import (
	"hash/fnv"
	"iter"
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// scope is which addresses of a segment one client may have.
type scope struct {
	seg      resource.SegmentIntent
	reserved *netboot.Reservations
	mine     netip.Addr // reserved for the client; the zero Addr if none is
	only     bool       // no address but a reserved one
	guest    bool       // the client is no machine of ours
	stranger bool       // nobody named it: a guest, or a BMC by its prefix only
	kept     int        // how many addresses of the pool are kept from strangers
}

func newScope(r *request, seg resource.SegmentIntent, svc netboot.Service, a protocol.BootAnswer) scope {
	bmc := leasing.BMCs(seg, a) && netboot.IsBMC(seg, r.mac)
	sc := scope{
		seg:      seg,
		reserved: svc.Reservations,
		only:     svc.Mode == resource.ServiceReservations,
		guest:    a.Server == "" && !bmc,
		stranger: a.Server == "" && (!bmc || !netboot.IsNamedBMC(seg, r.mac)),
		kept:     svc.Machines,
	}
	if netboot.HasBMCs(seg) {
		sc.kept += len(seg.BMCMACs)
	}
	if res, ok := svc.Reservations.Of(r.client(seg.Name, netip.Addr{})); ok {
		sc.mine = res.Address
	}
	return sc
}

// may says whether the client may have the address if nobody else has it.
func (sc scope) may(a netip.Addr) bool {
	switch {
	case !a.IsValid():
		return false
	case a == sc.mine:
		return assignable(sc.seg, a)
	case sc.only:
		return false
	}
	return !sc.others(a) && usable(sc.seg, a)
}

// others says whether the address is reserved for somebody else.
func (sc scope) others(a netip.Addr) bool {
	_, ok := sc.reserved.At(a)
	return ok && a != sc.mine
}

// candidates are the addresses of the pool that the MAC may have, from its own place in the
// pool on, which a hash of it gives.
func (sc scope) candidates(mac string) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		from, size := poolRange(sc.seg)
		if size == 0 || sc.only {
			return
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(mac)) // fnv never fails
		for i, start := uint32(0), h.Sum32()%size; i < size; i++ {
			if a := nth(from, (start+i)%size); sc.may(a) && !yield(a) {
				return
			}
		}
	}
}

// leaseTime is option 51.
func (sc scope) leaseTime() time.Duration {
	return leasing.Time(sc.seg.LeaseTime, sc.guest)
}
