package store

import (
	"errors"

	"rackboot/protocol/decide"
	"rackboot/state"
)

// begin gives a new database its identity, notes that the agent has joined to stand by, if so with the term standby, finishes
// what a crash cut short, and then fills the mirror.
func begin(d *disk, events *Events, newID func() string, standby uint64) error {
	frozen := d.guard != nil && d.guard.Frozen()
	err := d.updateInParts("agent.open.part", func(t state.Txn, cut func()) error {
		if err := identify(t, newID); err != nil {
			return err
		}
		joins, err := standBy(t, standby, frozen)
		if err != nil {
			return err
		}
		d.mirror.joined(joins)
		if err := events.number(t); err != nil {
			return err
		}
		if err := adoptSegments(t); err != nil {
			return err
		}
		cut()
		if d.guard != nil && !frozen {
			if _, err := adopt(t, d.guard, events); err != nil {
				return err
			}
			cut()
		}
		return recoverRecords(t, cut)
	})
	if err != nil {
		return err
	}
	return errors.Join(d.readHead(), d.readMirror(), d.settle())
}

// settle makes the guard set that of the store. A frozen store is made of the guard set.
func (disk *disk) settle() error {
	if disk.guard == nil || disk.guard.Frozen() {
		return nil
	}
	return disk.db.View(func(t state.Txn) error {
		set, err := guardSet(t)
		if err == nil {
			disk.guard.Settle(set)
		}
		return err
	})
}

// recoverRecords: a boot file that was being served when the agent died counts as
// fetched. Each record is complete in itself, and recovering it again changes nothing.
func recoverRecords(t state.Txn, cut func()) error {
	return t.Scan(keyRecords, func(key string, raw []byte) error {
		r, err := decode[decide.Record](key, raw)
		if err != nil {
			return err
		}
		after, changed := decide.Recover(r)
		if !changed {
			return nil
		}
		if err := put(t, key, after); err != nil {
			return err
		}
		cut()
		return nil
	})
}
