package statetest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
	"rackboot/state"
)

// Memory is a [state.Store] without a disk, for tests that take disks away, copy
// them and put old copies back, thousands of times. Writers are serial. Nothing
// in it waits for anything but its locks, so that it works in a synctest bubble.
type Memory struct {
	write sync.Mutex // held by the one writing transaction

	mu     sync.Mutex
	pairs  []pair // in order of key; the slice is replaced, never changed
	closed bool
	full   bool
	broken bool
}

type pair struct {
	key   string
	value []byte
}

var _ state.Store = (*Memory)(nil)

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{} }

// Copy is another store with what is committed in this one, which may be closed.
func (m *Memory) Copy() *Memory {
	pairs, _ := m.committed()
	return &Memory{pairs: pairs}
}

func (m *Memory) committed() (pairs []pair, closed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pairs, m.closed
}

// SetFull says whether the disk is full: nothing is written then, and all is read. A copy
// has room.
func (m *Memory) SetFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

// SetBroken says whether the disk fails: nothing is written then, and nothing is read. A
// copy works.
func (m *Memory) SetBroken(broken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = broken
}

func (m *Memory) works(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.broken {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "input/output error").WithHint("check the disk")
}

func (m *Memory) room(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.full {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "insufficient storage").WithHint("free space")
}

func closedError(op string) error {
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w", state.ErrClosed)
}

// View implements state.Store.
func (m *Memory) View(fn func(state.Txn) error) error {
	pairs, closed := m.committed()
	if closed {
		return closedError("store view")
	}
	if err := m.works("store view"); err != nil {
		return err
	}
	return fn(&memoryTxn{pairs: pairs, readOnly: true})
}

// Update implements state.Store; fn runs once.
func (m *Memory) Update(fn func(state.Txn) error) error {
	const op = "store update"
	m.write.Lock()
	defer m.write.Unlock()
	pairs, closed := m.committed()
	if closed {
		return closedError(op)
	}
	if err := m.works(op); err != nil {
		return err
	}
	t := &memoryTxn{pairs: pairs}
	if err := fn(t); err != nil || !t.owned {
		return err
	}
	if err := m.room(op); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return closedError(op)
	}
	m.pairs = t.pairs
	return nil
}

// Batch implements state.Store.
func (m *Memory) Batch(ctx context.Context, fn func(state.Txn) error) error {
	if err := ctx.Err(); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, "store batch", "not begun: %w", err)
	}
	return m.Update(fn)
}

// Close implements state.Store, but waits for nobody: what was not committed by
// now never is, as when the machine dies.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// memoryTxn is a transaction; its own writes are in its own slice.
type memoryTxn struct {
	pairs    []pair
	owned    bool // pairs may be changed
	readOnly bool
}

func (t *memoryTxn) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t.pairs, key, func(p pair, k string) int { return strings.Compare(p.key, k) })
}

func (t *memoryTxn) Get(key string) ([]byte, error) {
	i, found := t.find(key)
	if !found {
		return nil, protocol.Errorf(protocol.CodeNotFound, "store get", "%s: %w", key, state.ErrNotFound)
	}
	return bytes.Clone(t.pairs[i].value), nil
}

func (t *memoryTxn) own(op, key string) error {
	switch {
	case t.readOnly:
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: a View does not write", key)
	case key == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "the key is empty")
	case !t.owned:
		t.pairs, t.owned = slices.Clone(t.pairs), true
	}
	return nil
}

func (t *memoryTxn) Set(key string, value []byte) error {
	if err := t.own("store set", key); err != nil {
		return err
	}
	p := pair{key, bytes.Clone(value)}
	if i, found := t.find(key); found {
		t.pairs[i] = p
	} else {
		t.pairs = slices.Insert(t.pairs, i, p)
	}
	return nil
}

func (t *memoryTxn) Delete(key string) error {
	if err := t.own("store delete", key); err != nil {
		return err
	}
	if i, found := t.find(key); found {
		t.pairs = slices.Delete(t.pairs, i, i+1)
	}
	return nil
}

func (t *memoryTxn) Scan(prefix string, fn func(key string, value []byte) error) error {
	for next := prefix; ; {
		i, _ := t.find(next)
		if i == len(t.pairs) || !strings.HasPrefix(t.pairs[i].key, prefix) {
			return nil
		}
		p := t.pairs[i]
		if err := fn(p.key, bytes.Clone(p.value)); err != nil {
			return err
		}
		next = p.key + "\x00"
	}
}
