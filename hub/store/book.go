package store

import (
	"context"
	"encoding/json"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
)

// book is a bucket whose entries are decoded once for each revision, and shared by
// everybody who reads. It is safe for concurrent use.
type book[V any] struct {
	core     *core
	bucket   string
	what     string // for messages
	decode   func([]byte) (*V, error)
	encode   func(*V) ([]byte, error)
	revision func(*V) *uint64 // for compare-and-set; 0 creates

	mu sync.RWMutex
	by map[string]*V
}

func (b *book[V]) key(name string) string { return b.bucket + "." + name }

// peek is what is stored under a name, for reading only; nil if nothing is.
func (b *book[V]) peek(name string) *V {
	e, ok := b.core.mirror.get(b.key(name))
	if !ok {
		return nil
	}
	return b.of(e.Entry)
}

// list is everything, in the order of the names, for reading only.
func (b *book[V]) list() []*V {
	entries := b.core.mirror.list(b.bucket)
	out := make([]*V, len(entries))
	for i, e := range entries {
		out[i] = b.of(e.Entry)
	}
	return out
}

// find is what an index has of a term, as list is.
func (b *book[V]) find(index string, t term) (out []*V) {
	for _, e := range b.core.mirror.find(index, t) {
		if bucket, _ := split(e.Key); bucket == b.bucket {
			out = append(out, b.of(e.Entry))
		}
	}
	return out
}

// of decodes an entry. One that cannot be read is logged, and empty but for its revision,
// so that it can be replaced.
func (b *book[V]) of(e state.Entry) *V {
	_, name := split(e.Key)
	b.mu.RLock()
	v := b.by[name]
	b.mu.RUnlock()
	if v != nil && *b.revision(v) == e.Revision {
		return v
	}
	v, err := b.decode(e.Value)
	if err != nil {
		b.core.logger.Error("what is stored cannot be read", "key", e.Key, "err", err)
		v = new(V)
	}
	*b.revision(v) = e.Revision
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by == nil {
		b.by = map[string]*V{}
	}
	b.by[name] = v
	return v
}

// put writes under a name: compare-and-set on the revision, which it updates. The codes
// are invalid, conflict, unavailable and timeout.
func (b *book[V]) put(ctx context.Context, name string, v *V) error {
	op := "put " + b.what
	if !validToken(name) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name", name)
	}
	value, err := b.encode(v)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision := b.revision(v)
	if *revision, err = b.core.put(ctx, b.key(name), value, *revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// remove deletes at a revision. The codes are conflict, unavailable and timeout.
func (b *book[V]) remove(ctx context.Context, name string, revision uint64) error {
	if err := b.core.remove(ctx, b.key(name), revision); err != nil {
		return stateError("remove "+b.what, err)
	}
	b.forget(name)
	return nil
}

func (b *book[V]) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.by, name)
}

// sweep removes what is needed no more. The codes are those of remove.
func (b *book[V]) sweep(ctx context.Context, needed func(name string) bool) error {
	for _, e := range b.core.mirror.list(b.bucket) {
		_, name := split(e.Key)
		if needed(name) {
			continue
		}
		if err := b.remove(ctx, name, e.Revision); err != nil {
			return err
		}
	}
	return nil
}

func toJSON[V any](v *V) ([]byte, error) { return json.Marshal(v) }

func fromJSON[V any](value []byte) (*V, error) {
	v := new(V)
	return v, json.Unmarshal(value, v)
}
