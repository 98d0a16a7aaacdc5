package store

import (
	"context"
	"net/netip"

	"rackboot/netboot"
	"rackboot/state"
)

// Leases of IPv4 and of IPv6, by segment and address.
const (
	leases4 = "lease/"
	leases6 = "lease6/"
)

// Leases are those of one version of DHCP.
type Leases[L netboot.Lease | netboot.Lease6] struct {
	disk   *disk
	prefix string
	of     func(L) (segment string, a netip.Addr)
}

func newLeases4(d *disk) *Leases[netboot.Lease] {
	return &Leases[netboot.Lease]{d, leases4, func(l netboot.Lease) (string, netip.Addr) { return l.Segment, l.Address }}
}

func newLeases6(d *disk) *Leases[netboot.Lease6] {
	return &Leases[netboot.Lease6]{d, leases6, func(l netboot.Lease6) (string, netip.Addr) { return l.Segment, l.Address }}
}

func (ls *Leases[L]) key(l L) string {
	segment, a := ls.of(l)
	return ls.prefix + segment + "/" + a.String()
}

// Load reads the leases of a segment.
func (ls *Leases[L]) Load(segment string) (all []L, err error) {
	err = ls.disk.db.View(func(t state.Txn) error {
		all, err = scan[L](t, ls.prefix+segment+"/")
		return err
	})
	return all, err
}

// Put writes leases; writers that come together share one fsync, of both versions.
func (ls *Leases[L]) Put(ctx context.Context, leases ...L) error {
	return ls.disk.db.Batch(ctx, func(t state.Txn) error {
		for _, l := range leases {
			if err := put(t, ls.key(l), l); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delete forgets a lease.
func (ls *Leases[L]) Delete(ctx context.Context, l L) error {
	return ls.disk.db.Batch(ctx, func(t state.Txn) error { return t.Delete(ls.key(l)) })
}
