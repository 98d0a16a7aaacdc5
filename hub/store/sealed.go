package store

import (
	"context"

	"rackboot/protocol/resource"
)

// PeekSealed is what was last sealed for a BMC, for reading only; nil if nothing was.
// It is decoded once for each revision, and empty if it cannot be read.
func (s *Store) PeekSealed(bmc string) *Sealed { return s.sealed.peek(bmc) }

// PutSealed writes what was sealed: compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutSealed(ctx context.Context, v *Sealed) error { return s.sealed.put(ctx, v.BMC, v) }

// SweepSealed removes what was sealed for BMCs that are gone or have local credentials
// now. The codes are conflict, unavailable and timeout.
func (s *Store) SweepSealed(ctx context.Context) error {
	return s.sealed.sweep(ctx, func(name string) bool {
		b, ok := s.shared(resource.KindBMC, name).(*resource.BMC)
		return ok && resource.SecretOf(b.Spec.CredentialsRef) != ""
	})
}

func (s *Store) sealedBook() *book[Sealed] {
	return &book[Sealed]{
		store: s, bucket: BesideSealed, what: "sealed credentials", decode: fromJSON[Sealed], encode: toJSON[Sealed],
		revision: func(v *Sealed) *uint64 { return &v.Revision },
	}
}
