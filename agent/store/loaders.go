package store

import (
	"rackboot/netboot/chain"
	"rackboot/state"
)

const keyLoaders = "meta/loaders"

// Loaders are the boot loaders in use.
type Loaders struct{ disk *disk }

// InUse is the set of boot loaders that was put last; nil if none was. Its files are
// in the blob store.
func (l *Loaders) InUse() (set chain.Set, err error) {
	err = l.disk.db.View(func(t state.Txn) error {
		set, _, err = get[chain.Set](t, keyLoaders)
		return err
	})
	if err != nil {
		return nil, failing("read the boot loaders", err)
	}
	return set, nil
}

// Put puts the set of boot loaders in the place of the one before. It is on disk
// when it returns.
func (l *Loaders) Put(set chain.Set) error {
	err := l.disk.update(func(t state.Txn) error { return put(t, keyLoaders, set) })
	if err != nil {
		return failing("keep the boot loaders", err)
	}
	return nil
}
