package store

import (
	"context"
	"fmt"
	"strings"

	"rackboot/protocol"
)

// Bulks keeps bulk operations and their parts.
type Bulks struct {
	heads *book[StoredBulk]
	parts *book[BulkPart]
}

func newBulks(c *core) *Bulks {
	return &Bulks{
		heads: &book[StoredBulk]{
			core: c, bucket: bulkBucket, what: "bulk operation", decode: fromJSON[StoredBulk], encode: toJSON[StoredBulk],
			revision: func(v *StoredBulk) *uint64 { return &v.Revision },
		},
		parts: &book[BulkPart]{
			core: c, bucket: partBucket, what: "part of a bulk operation", decode: fromJSON[BulkPart], encode: toJSON[BulkPart],
			revision: func(v *BulkPart) *uint64 { return &v.Revision },
		},
	}
}

func partName(id string, n int) string { return fmt.Sprintf("%s_%04d", id, n) }

// Put writes a bulk operation, and PutPart one of its parts: compare-and-set on the revision, which is updated. Parts are
// written first: without the operation they are nothing, and Sweep removes them. The codes are invalid, conflict,
// unavailable and timeout.
func (b *Bulks) Put(ctx context.Context, v *StoredBulk) error { return b.heads.put(ctx, v.ID, v) }

// PutPart is as Put.
func (b *Bulks) PutPart(ctx context.Context, id string, n int, p *BulkPart) error {
	return b.parts.put(ctx, partName(id, n), p)
}

// List lists all in the order of their ids, which is that of their creation. One that cannot be read is left out.
func (b *Bulks) List() []StoredBulk {
	var out []StoredBulk
	for _, v := range b.heads.list() {
		if v.ID != "" {
			out = append(out, *v)
		}
	}
	return out
}

// Get returns one; not_found if there is none.
func (b *Bulks) Get(id string) (StoredBulk, error) {
	if validToken(id) {
		if v := b.heads.peek(id); v != nil && v.ID != "" {
			return *v, nil
		}
	}
	return StoredBulk{}, protocol.Errorf(protocol.CodeNotFound, "get bulk operation", "bulk operation %q does not exist", id).
		WithHint("rackctl get bulk lists yours; they are forgotten some time after they ended")
}

// Part returns a copy of a part; empty if there is none.
func (b *Bulks) Part(id string, n int) BulkPart {
	p := b.parts.peek(partName(id, n))
	if p == nil {
		return BulkPart{}
	}
	return BulkPart{Items: append([]BulkItem(nil), p.Items...), Revision: p.Revision}
}

// Items are those of a part, for reading only.
func (b *Bulks) Items(id string, n int) []BulkItem {
	if p := b.parts.peek(partName(id, n)); p != nil {
		return p.Items
	}
	return nil
}

// Remove deletes one; its parts go with the next Sweep. The codes are conflict, unavailable and timeout.
func (b *Bulks) Remove(ctx context.Context, v StoredBulk) error {
	return b.heads.remove(ctx, v.ID, v.Revision)
}

// Sweep removes parts of which there is no operation. None may be made meanwhile.
func (b *Bulks) Sweep(ctx context.Context) error {
	return b.parts.sweep(ctx, func(name string) bool {
		id, _, _ := strings.Cut(name, "_")
		return b.heads.peek(id) != nil
	})
}
