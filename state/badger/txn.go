package badger

import (
	"bytes"
	"errors"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"rackboot/protocol"
	"rackboot/state"
)

// scanPage is how many entries of a Scan are read before fn sees them. Badger
// allows one open iterator per writing transaction, so none is open while fn
// runs and may scan or write itself.
const scanPage = 64

// reservedPrefix is Badger's own.
const reservedPrefix = "!badger!"

type txn struct {
	s        *Store
	t        *badger.Txn
	writes   int // Set and Delete calls that changed t
	readOnly bool
	tooBig   error // of the first write that had no room; t is not committed
}

var _ state.Txn = (*txn)(nil)

// checkKey refuses keys that Badger cannot store, and our own.
func checkKey(op, key string) error {
	switch {
	case key == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "the key is empty")
	case len(key) > MaxKey:
		return protocol.Errorf(protocol.CodeInvalid, op, "key of %d bytes; the limit is %d", len(key), MaxKey)
	case key == schemaKey, strings.HasPrefix(key, reservedPrefix):
		return protocol.Errorf(protocol.CodeInvalid, op, "key %q is reserved", key)
	}
	return nil
}

func (x *txn) Get(key string) ([]byte, error) {
	const op = "store get"
	if err := checkKey(op, key); err != nil {
		return nil, err
	}
	item, err := x.t.Get([]byte(key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "%s: %w", key, state.ErrNotFound)
	}
	if err != nil {
		return nil, x.s.mapError(op, err)
	}
	v, err := item.ValueCopy(nil)
	return v, x.s.mapError(op, err)
}

func (x *txn) Set(key string, value []byte) error {
	const op = "store set"
	if len(value) > MaxValue {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: value of %d bytes; the limit is %d", key, len(value), MaxValue)
	}
	return x.change(op, key, func(k []byte) error {
		// Badger keeps the slice until the commit; the caller may reuse it.
		return x.t.Set(k, bytes.Clone(value))
	})
}

func (x *txn) Delete(key string) error {
	return x.change("store delete", key, x.t.Delete)
}

func (x *txn) change(op, key string, fn func([]byte) error) error {
	if err := checkKey(op, key); err != nil {
		return err
	}
	if x.readOnly {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: a View does not write", key)
	}
	err := fn([]byte(key))
	if errors.Is(err, badger.ErrTxnTooBig) {
		x.tooBig = protocol.Errorf(protocol.CodeInvalid, op, "%s: the transaction is too big: %w", key, err).
			WithHint("split it; all writes of one transaction stay below 600 KiB")
		return x.tooBig
	}
	if err == nil {
		x.writes++
	}
	return x.s.mapError(op, err)
}

type pair struct {
	key   string
	value []byte
}

func (x *txn) Scan(prefix string, fn func(key string, value []byte) error) error {
	from := []byte(prefix)
	for {
		page, err := x.page([]byte(prefix), from)
		if err != nil {
			return err
		}
		for _, p := range page {
			if p.key == schemaKey {
				continue
			}
			if err := fn(p.key, p.value); err != nil {
				return err
			}
		}
		if len(page) < scanPage {
			return nil
		}
		// The least key after the last one.
		from = append([]byte(page[len(page)-1].key), 0)
	}
}

func (x *txn) page(prefix, from []byte) ([]pair, error) {
	it := x.t.NewIterator(badger.IteratorOptions{PrefetchValues: false, Prefix: prefix})
	defer it.Close()
	var out []pair
	for it.Seek(from); it.ValidForPrefix(prefix) && len(out) < scanPage; it.Next() {
		v, err := it.Item().ValueCopy(nil)
		if err != nil {
			return nil, x.s.mapError("store scan", err)
		}
		out = append(out, pair{string(it.Item().Key()), v})
	}
	return out, nil
}
