package store

import (
	"rackboot/protocol/decide"
	"rackboot/state"
)

// begin gives a new database its identity, finishes what a crash cut short, and then fills the mirror.
func begin(d *disk, events *Events, newID func() string) error {
	err := d.updateInParts("agent.open.part", func(t state.Txn, cut func()) error {
		if err := identify(t, newID); err != nil {
			return err
		}
		if err := events.number(t); err != nil {
			return err
		}
		if err := adoptSegments(t); err != nil {
			return err
		}
		cut()
		return recoverRecords(t, cut)
	})
	if err != nil {
		return err
	}
	if err := d.readHead(); err != nil {
		return err
	}
	return d.readMirror()
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
