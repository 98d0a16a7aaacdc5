package guard

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
)

// Freeze makes a store that has the pairs, and takes no write: cause says why.
func Freeze(pairs map[string][]byte, cause error) state.Store {
	return &frozen{pairs: pairs, keys: sorted(pairs), cause: cause}
}

type frozen struct {
	pairs map[string][]byte
	keys  []string // in order
	cause error

	mu     sync.Mutex
	closed bool
}

func (f *frozen) open(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", state.ErrClosed)
	}
	return nil
}

// View implements state.Store.
func (f *frozen) View(fn func(state.Txn) error) error {
	if err := f.open("store view"); err != nil {
		return err
	}
	return fn(&frozenTxn{store: f, over: map[string][]byte{}, readOnly: true})
}

// Update implements state.Store. fn sees its own writes, which go nowhere.
func (f *frozen) Update(fn func(state.Txn) error) error {
	const op = "store update"
	if err := f.open(op); err != nil {
		return err
	}
	t := &frozenTxn{store: f, over: map[string][]byte{}}
	if err := fn(t); err != nil || len(t.over) == 0 {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "there is no store to write to: %w", f.cause).
		WithHint("the agent opens it by itself when it can be opened")
}

// Batch implements state.Store.
func (f *frozen) Batch(ctx context.Context, fn func(state.Txn) error) error {
	if err := ctx.Err(); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, "store batch", "not begun: %w", err)
	}
	return f.Update(fn)
}

// Close implements state.Store.
func (f *frozen) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

type frozenTxn struct {
	store    *frozen
	over     map[string][]byte // what it wrote; nil is deleted
	readOnly bool
}

// Get implements state.Txn.
func (t *frozenTxn) Get(key string) ([]byte, error) {
	v, wrote := t.over[key]
	if !wrote {
		v = t.store.pairs[key]
	}
	if v == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "store get", "%s: %w", key, state.ErrNotFound)
	}
	return bytes.Clone(v), nil
}

func (t *frozenTxn) set(op, key string, value []byte) error {
	if t.readOnly {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: a View does not write", key)
	}
	t.over[key] = value
	return nil
}

// Set implements state.Txn.
func (t *frozenTxn) Set(key string, value []byte) error {
	return t.set("store set", key, append([]byte{}, value...))
}

// Delete implements state.Txn.
func (t *frozenTxn) Delete(key string) error { return t.set("store delete", key, nil) }

// Scan implements state.Txn.
func (t *frozenTxn) Scan(prefix string, fn func(key string, value []byte) error) error {
	keys := t.store.keys
	if len(t.over) > 0 {
		keys = slices.Concat(keys, sorted(t.over))
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	i, _ := slices.BinarySearch(keys, prefix)
	for ; i < len(keys) && strings.HasPrefix(keys[i], prefix); i++ {
		v, err := t.Get(keys[i])
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if err := fn(keys[i], v); err != nil {
			return err
		}
	}
	return nil
}
