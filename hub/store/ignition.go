package store

import (
	"context"
	"errors"

	"rackboot/protocol/resource"
)

// Ignitions keeps user data as it was sealed for agents.
type Ignitions struct {
	core *core
	book *book[SealedIgnition]
	// former is of what configurations may return to.
	former *book[SealedIgnition]
}

func newIgnitions(c *core) *Ignitions {
	of := func(bucket string) *book[SealedIgnition] {
		return &book[SealedIgnition]{
			core: c, bucket: bucket, what: "sealed user data", decode: fromJSON[SealedIgnition], encode: toJSON[SealedIgnition],
			revision: func(v *SealedIgnition) *uint64 { return &v.Revision },
		}
	}
	return &Ignitions{c, of(ignitionBucket), of(formerBucket)}
}

// Peek is what was last sealed for a boot configuration, for reading only; nil
// if nothing was. It is decoded once for each revision, and empty if it cannot be read.
func (i *Ignitions) Peek(config string) *SealedIgnition { return i.book.peek(config) }

// PeekFormer is likewise of what a boot configuration may return to.
func (i *Ignitions) PeekFormer(config string) *SealedIgnition {
	return i.former.peek(config)
}

// For is what was sealed for an agent, by its digest; nil if there is none.
func (i *Ignitions) For(agent, sealed string) *SealedIgnition {
	for _, b := range []*book[SealedIgnition]{i.book, i.former} {
		for _, v := range b.find(bySealed, term{word: sealed}) {
			if v.Sealed == sealed && v.Agent == agent {
				return v
			}
		}
	}
	return nil
}

// Put writes what was sealed: compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (i *Ignitions) Put(ctx context.Context, v *SealedIgnition) error {
	return i.book.put(ctx, v.Config, v)
}

// PutFormer is likewise of what a boot configuration may return to.
func (i *Ignitions) PutFormer(ctx context.Context, v *SealedIgnition) error {
	return i.former.put(ctx, v.Config, v)
}

// Sweep removes what was sealed for boot configurations that are gone. The
// codes are conflict, unavailable and timeout.
func (i *Ignitions) Sweep(ctx context.Context) error {
	kept := func(ref func(*resource.BootConfiguration) *resource.IgnitionRef) func(string) bool {
		return func(config string) bool {
			b, ok := i.core.shared(resource.KindBootConfiguration, config).(*resource.BootConfiguration)
			return ok && ref(b) != nil
		}
	}
	return errors.Join(
		i.book.sweep(ctx, kept(func(b *resource.BootConfiguration) *resource.IgnitionRef { return b.Spec.Ignition })),
		i.former.sweep(ctx, kept(func(b *resource.BootConfiguration) *resource.IgnitionRef { return b.Spec.Former.Data() })),
	)
}
