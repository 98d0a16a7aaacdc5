package store

import (
	"errors"
	"sync/atomic"

	"rackboot/agent/guard"
	"rackboot/state"
)

// Guard keeps the guard set of the store.
type Guard interface {
	// Set returns it; false if there is none.
	Set() (guard.Set, bool)
	// Settle replaces it.
	Settle(guard.Set)
	// Ahead takes what a transaction adds before that is on disk, Behind what it has changed
	// once it is.
	Ahead(guard.Change)
	Behind(guard.Change)
	// Frozen says that the store is made of the guard set.
	Frozen() bool
	// Newcomers are the servers with holds that are not known to be in the store; Coming are those.
	Newcomers() []string
	Coming(server string) [][]byte
}

// disk is the database with its mirror, which follows what is written by update.
type disk struct {
	db    state.Store
	guard Guard // nil without a guard set
	// guards is what writes of a transaction change of it; false if nothing.
	guards    func(t state.Txn, set guard.Set, writes []write) (c guard.Change, any bool, err error)
	crash     state.Crasher
	partBytes int // of one transaction
	// write has room for the one whose turn it is to write, from the first transaction to the last.
	write  chan struct{}
	calls  calls // of update, that wait for a turn
	mirror mirror
	views  views
	head   atomic.Pointer[Head] // of what is on disk; nil of a new database
}

// answers reads a key, so that a disk that fails is noticed by each look at what is in memory.
func (disk *disk) answers(key string) error {
	return disk.db.View(func(t state.Txn) error {
		if _, err := t.Get(key); err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
		return nil
	})
}

// commit runs fn in one transaction. It needs the turn to write.
func (disk *disk) commit(fn func(state.Txn) error) error {
	var w watched
	var head *Head
	var change guard.Change
	ran, changes := false, false
	defer disk.views.over()
	err := disk.db.Update(func(t state.Txn) (err error) {
		c := counted{Txn: t}
		w = watched{Txn: &c, views: &disk.views}
		if err = fn(&w); err == nil {
			head, err = c.finish()
		}
		if err == nil && disk.guard != nil && len(w.changes) > 0 {
			set, _ := disk.guard.Set()
			if change, changes, err = disk.guards(t, set, w.changes); changes && err == nil {
				disk.guard.Ahead(change)
			}
		}
		ran = err == nil
		return err
	})
	if err != nil {
		if ran { // the commit failed; whether anything of it is there is not known
			disk.mirror.forget()
		}
		return err
	}
	disk.mirror.take(w.changes)
	if head != nil {
		disk.head.Store(head)
	}
	if changes {
		disk.guard.Behind(change)
	}
	return nil
}

// updateInParts runs fn, and writes what it wrote in as many transactions as it takes, in
// order. fn calls cut wherever what it has written so far is complete in itself: a crash
// may leave only that. So fn writes last what says that the rest is there, and can run
// again over what an earlier run has left. No other writer comes between.
func (disk *disk) updateInParts(point string, fn func(t state.Txn, cut func()) error) error {
	disk.hold()
	defer disk.letGo()
	var d draft
	err := disk.db.View(func(t state.Txn) error {
		d = draft{base: t, values: map[string][]byte{}}
		return fn(&d, d.cut)
	})
	if err != nil {
		return err
	}
	d.cut()
	for _, part := range pack(d.units, disk.partBytes) {
		disk.crash.At(point)
		err := disk.commit(func(t state.Txn) error {
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

// mirrored returns the mirror, read for as long as m.mu is held by it; the caller calls
// done. Nobody changes what it has.
func (disk *disk) mirrored() (m *mirror, done func(), err error) {
	m = &disk.mirror
	for {
		m.mu.RLock()
		if m.whole {
			return m, m.mu.RUnlock, nil
		}
		m.mu.RUnlock()
		if err := disk.readMirror(); err != nil {
			return nil, nil, err
		}
	}
}

// readMirror reads it while nobody writes.
func (disk *disk) readMirror() error {
	disk.hold()
	defer disk.letGo()
	return disk.db.View(disk.mirror.read)
}

// readHead takes over the head that is on disk.
func (disk *disk) readHead() error {
	return disk.db.View(func(t state.Txn) error {
		h, found, err := get[Head](t, keyHead)
		if found {
			disk.head.Store(&h)
		}
		return err
	})
}
