package store

import (
	"context"

	"rackboot/netboot"
	"rackboot/state"
)

// Leases of IPv4 and of IPv6, by segment and address.
const (
	leases4 = "lease/"
	leases6 = "lease6/"
)

func leaseKey(l netboot.Lease) string { return leases4 + l.Segment + "/" + l.Address.String() }

func lease6Key(l netboot.Lease6) string { return leases6 + l.Segment + "/" + l.Address.String() }

// Leases are those of both versions of DHCP.
type Leases struct{ disk *disk }

// Load reads the IPv4 leases of a segment.
func (ls *Leases) Load(segment string) ([]netboot.Lease, error) {
	return loadAll[netboot.Lease](ls.disk, leases4+segment+"/")
}

// Put writes a lease; writers that come together share one fsync.
func (ls *Leases) Put(ctx context.Context, l netboot.Lease) error {
	return ls.keep(ctx, leaseKey(l), l)
}

// Delete forgets a lease.
func (ls *Leases) Delete(ctx context.Context, l netboot.Lease) error {
	return ls.drop(ctx, leaseKey(l))
}

// Load6 reads the IPv6 leases of a segment.
func (ls *Leases) Load6(segment string) ([]netboot.Lease6, error) {
	return loadAll[netboot.Lease6](ls.disk, leases6+segment+"/")
}

// Put6 is Put for a lease of IPv6; both share one fsync.
func (ls *Leases) Put6(ctx context.Context, l netboot.Lease6) error {
	return ls.keep(ctx, lease6Key(l), l)
}

// Delete6 forgets a lease of IPv6.
func (ls *Leases) Delete6(ctx context.Context, l netboot.Lease6) error {
	return ls.drop(ctx, lease6Key(l))
}

func loadAll[T any](d *disk, prefix string) (all []T, err error) {
	err = d.db.View(func(t state.Txn) error {
		all, err = scan[T](t, prefix)
		return err
	})
	return all, err
}

func (ls *Leases) keep(ctx context.Context, key string, v any) error {
	return ls.disk.db.Batch(ctx, func(t state.Txn) error { return put(t, key, v) })
}

func (ls *Leases) drop(ctx context.Context, key string) error {
	return ls.disk.db.Batch(ctx, func(t state.Txn) error { return t.Delete(key) })
}

var (
	_ netboot.LeaseStore  = (*Leases)(nil)
	_ netboot.LeaseStore6 = (*Leases)(nil)
)
