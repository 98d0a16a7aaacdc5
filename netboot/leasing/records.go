package leasing

import (
	"context"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Records are the leases of a segment on disk. A write outlives the server's stop, so that
// what is on disk and what the client was told stay the same.
type Records[L netboot.Lease | netboot.Lease6] struct{ Store netboot.LeaseStore[L] }

// Load reads the leases. The error has the store's code; op is what failed of it.
func (r Records[L]) Load(op, segment string) ([]L, error) {
	all, err := r.Store.Load(segment)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeOf(err), op, "loading leases of segment %s: %w", segment, err)
	}
	return all, nil
}

// Put writes leases, all by one fsync.
func (r Records[L]) Put(ctx context.Context, leases ...L) error {
	Waits(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StoreTimeout)
	defer cancel()
	return r.Store.Put(ctx, leases...)
}

// Delete forgets a lease.
func (r Records[L]) Delete(ctx context.Context, l L) error {
	Waits(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StoreTimeout)
	defer cancel()
	return r.Store.Delete(ctx, l)
}
