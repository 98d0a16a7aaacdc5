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

// update runs fn in one transaction, and takes over into the mirror what it wrote.
// Writers run one at a time.
func (s *Store) update(fn func(state.Txn) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	return s.commit(fn)
}

// commit needs s.write.
func (s *Store) commit(fn func(state.Txn) error) error {
	var w watched
	ran := false
	err := s.db.Update(func(t state.Txn) error {
		w = watched{Txn: t}
		err := fn(&w)
		ran = err == nil
		return err
	})
	if err != nil {
		if ran { // the commit failed; whether anything of it is there is not known
			s.mirror.forget()
		}
		return err
	}
	s.mirror.take(w.changes)
	return nil
}

// updateInParts runs fn, and writes what it wrote in as many transactions as it takes, in
// order. fn calls cut wherever what it has written so far is complete in itself: a crash
// may leave only that. So fn writes last what says that the rest is there, and can run
// again over what an earlier run has left. No other writer comes between.
func (s *Store) updateInParts(point string, fn func(t state.Txn, cut func()) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	var d draft
	err := s.db.View(func(t state.Txn) error {
		d = draft{base: t, values: map[string][]byte{}}
		return fn(&d, d.cut)
	})
	if err != nil {
		return err
	}
	d.cut()
	for _, part := range pack(d.units, s.partBytes) {
		s.crash.At(point)
		err := s.commit(func(t state.Txn) error {
			for _, w := range part {
				if err := w.on(t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

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
