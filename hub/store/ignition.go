package store

import (
	"context"
	"errors"

	"rackboot/protocol/resource"
)

// PeekIgnition is what was last sealed for a boot configuration, for reading only; nil
// if nothing was. It is decoded once for each revision, and empty if it cannot be read.
func (s *Store) PeekIgnition(config string) *SealedIgnition { return s.ignitions.peek(config) }

// PeekFormerIgnition is likewise of what a boot configuration may return to.
func (s *Store) PeekFormerIgnition(config string) *SealedIgnition {
	return s.formerIgnitions.peek(config)
}

// IgnitionFor is what was sealed for an agent, by its digest; nil if there is none.
func (s *Store) IgnitionFor(agent, sealed string) *SealedIgnition {
	for _, b := range []*book[SealedIgnition]{s.ignitions, s.formerIgnitions} {
		for _, v := range b.find(bySealed, sealed) {
			if v.Sealed == sealed && v.Agent == agent {
				return v
			}
		}
	}
	return nil
}

// PutIgnition writes what was sealed: compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutIgnition(ctx context.Context, v *SealedIgnition) error {
	return s.ignitions.put(ctx, v.Config, v)
}

// PutFormerIgnition is likewise of what a boot configuration may return to.
func (s *Store) PutFormerIgnition(ctx context.Context, v *SealedIgnition) error {
	return s.formerIgnitions.put(ctx, v.Config, v)
}

// SweepIgnitions removes what was sealed for boot configurations that are gone. The
// codes are conflict, unavailable and timeout.
func (s *Store) SweepIgnitions(ctx context.Context) error {
	kept := func(ref func(*resource.BootConfiguration) *resource.IgnitionRef) func(string) bool {
		return func(config string) bool {
			b, ok := s.shared(resource.KindBootConfiguration, config).(*resource.BootConfiguration)
			return ok && ref(b) != nil
		}
	}
	return errors.Join(
		s.ignitions.sweep(ctx, kept(func(b *resource.BootConfiguration) *resource.IgnitionRef { return b.Spec.Ignition })),
		s.formerIgnitions.sweep(ctx, kept(func(b *resource.BootConfiguration) *resource.IgnitionRef { return b.Spec.Former.Data() })),
	)
}

func (s *Store) ignitionBook(bucket string) *book[SealedIgnition] {
	return &book[SealedIgnition]{
		store: s, bucket: bucket, what: "sealed user data", decode: fromJSON[SealedIgnition], encode: toJSON[SealedIgnition],
		revision: func(v *SealedIgnition) *uint64 { return &v.Revision },
	}
}

// ignition checks that a Secret that is named for user data is one; that it exists is
// checked elsewhere.
func (c *checker) ignition(i int, path string, ref *resource.Ref, lookup func(resource.Kind, string) resource.Object) {
	if ref == nil {
		return
	}
	if secret, ok := lookup(resource.KindSecret, ref.Name).(*resource.Secret); ok && secret.Spec.Type != resource.SecretIgnition {
		c.add(i, path, "Secret %q is of type %s, not %s", ref.Name, secret.Spec.Type, resource.SecretIgnition)
	}
}
