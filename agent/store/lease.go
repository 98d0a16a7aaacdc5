package store

import (
	"context"

	"rackboot/netboot"
	"rackboot/state"
)

func leaseKey(l netboot.Lease) string { return "lease/" + l.Segment + "/" + l.Address.String() }

// Load reads the leases of a segment.
func (s *Store) Load(segment string) (leases []netboot.Lease, err error) {
	err = s.db.View(func(t state.Txn) error {
		leases, err = scan[netboot.Lease](t, "lease/"+segment+"/")
		return err
	})
	return leases, err
}

// Put writes a lease; writers that come together share one fsync.
func (s *Store) Put(ctx context.Context, l netboot.Lease) error {
	return s.db.Batch(ctx, func(t state.Txn) error { return put(t, leaseKey(l), l) })
}

// Delete forgets a lease.
func (s *Store) Delete(ctx context.Context, l netboot.Lease) error {
	return s.db.Batch(ctx, func(t state.Txn) error { return t.Delete(leaseKey(l)) })
}

var _ netboot.LeaseStore = (*Store)(nil)
