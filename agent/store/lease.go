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

// Load reads the IPv4 leases of a segment.
func (s *Store) Load(segment string) ([]netboot.Lease, error) {
	return loadAll[netboot.Lease](s, leases4+segment+"/")
}

// Put writes a lease; writers that come together share one fsync.
func (s *Store) Put(ctx context.Context, l netboot.Lease) error {
	return s.keep(ctx, leaseKey(l), l)
}

// Delete forgets a lease.
func (s *Store) Delete(ctx context.Context, l netboot.Lease) error {
	return s.drop(ctx, leaseKey(l))
}

// Load6 reads the IPv6 leases of a segment.
func (s *Store) Load6(segment string) ([]netboot.Lease6, error) {
	return loadAll[netboot.Lease6](s, leases6+segment+"/")
}

// Put6 is Put for a lease of IPv6; both share one fsync.
func (s *Store) Put6(ctx context.Context, l netboot.Lease6) error {
	return s.keep(ctx, lease6Key(l), l)
}

// Delete6 forgets a lease of IPv6.
func (s *Store) Delete6(ctx context.Context, l netboot.Lease6) error {
	return s.drop(ctx, lease6Key(l))
}

func loadAll[T any](s *Store, prefix string) (all []T, err error) {
	err = s.db.View(func(t state.Txn) error {
		all, err = scan[T](t, prefix)
		return err
	})
	return all, err
}

func (s *Store) keep(ctx context.Context, key string, v any) error {
	return s.db.Batch(ctx, func(t state.Txn) error { return put(t, key, v) })
}

func (s *Store) drop(ctx context.Context, key string) error {
	return s.db.Batch(ctx, func(t state.Txn) error { return t.Delete(key) })
}

var (
	_ netboot.LeaseStore  = (*Store)(nil)
	_ netboot.LeaseStore6 = (*Store)(nil)
)
