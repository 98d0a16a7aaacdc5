package store

import (
	"context"
	"encoding/binary"

	"rackboot/protocol"
)

// Number reads a number of the hub's own, and the revision to write it at; both are 0 if it was never
// written. The code is internal where something else is stored.
func (m *Meta) Number(key string) (n, revision uint64, err error) {
	raw, revision, err := m.Get(key)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return 0, 0, nil
	case err != nil:
		return 0, 0, err
	case len(raw) != 8:
		return 0, 0, protocol.Errorf(protocol.CodeInternal, "read "+key, "%d bytes are stored, not 8", len(raw)).
			WithHint("restore the hub's store from its backup")
	}
	return binary.BigEndian.Uint64(raw), revision, nil
}

// PutNumber writes one: compare-and-set on its revision, where 0 creates. The codes are those of Put.
func (m *Meta) PutNumber(ctx context.Context, key string, n, revision uint64) error {
	return m.Put(ctx, key, binary.BigEndian.AppendUint64(nil, n), revision)
}
