package store

import (
	"bytes"
	"context"

	"rackboot/protocol"
	"rackboot/state/heads"
)

// Meta keeps values of the hub's own by name, such as epochs and keys, and the head of the audit log.
type Meta struct{ core *core }

// Get returns a value of the hub's own and its revision; not_found if there is
// none.
func (m *Meta) Get(name string) ([]byte, uint64, error) {
	e, ok := m.core.mirror.get("meta." + name)
	if !ok {
		return nil, 0, protocol.Errorf(protocol.CodeNotFound, "get meta", "%q is not stored", name)
	}
	return bytes.Clone(e.Value), e.Revision, nil
}

// Writable says why nothing can be written now; nil if it can. It does not wait.
func (m *Meta) Writable() error { return m.core.healthy() }

// Lost is what the store has lost; nil is nothing. See [Store.Lost].
func (m *Meta) Lost() *heads.Loss { return m.core.lost.Load() }

// Lose notes that the store has lost something while it was open.
func (m *Meta) Lose(l *heads.Loss) { m.core.lost.CompareAndSwap(nil, l) }

// Put writes a value of the hub's own: compare-and-set on revision, where 0
// creates. The codes are invalid, conflict, unavailable and timeout.
func (m *Meta) Put(ctx context.Context, name string, value []byte, revision uint64) error {
	const op = "put meta"
	if !validToken(name) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name: use A-Z, a-z, 0-9, _, = and -", name)
	}
	if _, err := m.core.put(ctx, "meta."+name, bytes.Clone(value), revision); err != nil {
		return stateError(op, err)
	}
	return nil
}
