package store

import (
	"bytes"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/state"
)

const (
	// partBytes bounds what one transaction writes, unless a single unit is larger. The
	// database takes some 600 KiB.
	partBytes = 256 << 10
	// writeCost is what a write costs beside its key and value; a deletion has no value.
	writeCost = 64
	// deletesAtOnce bounds the deletions of a transaction that does nothing else.
	deletesAtOnce = 1024
)

// pack joins units to transactions of up to limit bytes.
func pack(units [][]write, limit int) (parts [][]write) {
	size := 0
	for _, u := range units {
		cost := 0
		for _, w := range u {
			cost += len(w.key) + len(w.value) + writeCost
		}
		if len(parts) == 0 || size+cost > limit {
			parts, size = append(parts, nil), 0
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], u...)
		size += cost
	}
	return parts
}

// write is a value for a key; nil deletes it.
type write struct {
	key   string
	value []byte
}

func (w write) on(t state.Txn) error {
	if w.value == nil {
		return t.Delete(w.key)
	}
	return t.Set(w.key, w.value)
}

// draft is a transaction that writes nothing: it shows base with its own writes, and
// keeps them in order.
type draft struct {
	base   state.Txn
	values map[string][]byte // that were written; nil was deleted
	keys   []string          // of values, in order of the keys
	unit   []write           // since the last cut
	units  [][]write
}

var _ state.Txn = (*draft)(nil)

func (d *draft) cut() {
	if len(d.unit) > 0 {
		d.units = append(d.units, d.unit)
		d.unit = nil
	}
}

// Get implements state.Txn.
func (d *draft) Get(key string) ([]byte, error) {
	value, written := d.values[key]
	switch {
	case !written:
		return d.base.Get(key)
	case value == nil:
		return nil, protocol.Errorf(protocol.CodeNotFound, "store get", "%s: %w", key, state.ErrNotFound)
	}
	return bytes.Clone(value), nil
}

// Set implements state.Txn.
func (d *draft) Set(key string, value []byte) error {
	d.note(write{key, append([]byte{}, value...)})
	return nil
}

// Delete implements state.Txn.
func (d *draft) Delete(key string) error {
	d.note(write{key, nil})
	return nil
}

func (d *draft) note(w write) {
	if _, written := d.values[w.key]; !written {
		i, _ := slices.BinarySearch(d.keys, w.key)
		d.keys = slices.Insert(d.keys, i, w.key)
	}
	d.values[w.key] = w.value
	if i := slices.IndexFunc(d.unit, func(o write) bool { return o.key == w.key }); i >= 0 {
		d.unit[i] = w
		return
	}
	d.unit = append(d.unit, w)
}

// Scan implements state.Txn.
func (d *draft) Scan(prefix string, fn func(key string, value []byte) error) error {
	next := prefix // all before it was shown
	own := func(before string) error {
		for {
			i, _ := slices.BinarySearch(d.keys, next)
			if i == len(d.keys) || !strings.HasPrefix(d.keys[i], prefix) || before != "" && d.keys[i] >= before {
				return nil
			}
			key := d.keys[i]
			next = key + "\x00"
			if value := d.values[key]; value != nil {
				if err := fn(key, bytes.Clone(value)); err != nil {
					return err
				}
			}
		}
	}
	err := d.base.Scan(prefix, func(key string, value []byte) error {
		if err := own(key); err != nil {
			return err
		}
		if key < next {
			return nil // it was written meanwhile, and shown
		}
		next = key + "\x00"
		if now, written := d.values[key]; written {
			if value = bytes.Clone(now); now == nil {
				return nil
			}
		}
		return fn(key, value)
	})
	if err != nil {
		return err
	}
	return own("")
}
