package store

import (
	"context"

	"rackboot/protocol/resource"
)

// Credentials keeps the accounts of BMCs as they were sealed for agents.
type Credentials struct {
	core *core
	book *book[Sealed]
}

func newCredentials(c *core) *Credentials {
	return &Credentials{c, &book[Sealed]{
		core: c, bucket: BesideSealed, what: "sealed credentials", decode: fromJSON[Sealed], encode: toJSON[Sealed],
		revision: func(v *Sealed) *uint64 { return &v.Revision },
	}}
}

// Peek is what was last sealed for a BMC, for reading only; nil if nothing was.
// It is decoded once for each revision, and empty if it cannot be read.
func (c *Credentials) Peek(bmc string) *Sealed { return c.book.peek(bmc) }

// Put writes what was sealed: compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (c *Credentials) Put(ctx context.Context, v *Sealed) error { return c.book.put(ctx, v.BMC, v) }

// Sweep removes what was sealed for BMCs that are gone or have local credentials
// now. The codes are conflict, unavailable and timeout.
func (c *Credentials) Sweep(ctx context.Context) error {
	return c.book.sweep(ctx, func(name string) bool {
		b, ok := c.core.shared(resource.KindBMC, name).(*resource.BMC)
		return ok && resource.SecretOf(b.Spec.CredentialsRef) != ""
	})
}
