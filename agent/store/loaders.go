package store

import (
	"rackboot/netboot/chain"
	"rackboot/state"
)

const keyLoaders = "meta/loaders"

// Loaders is the set of boot loaders that was put last; nil if none was. Its files are
// in the blob store.
func (s *Store) Loaders() (set chain.Set, err error) {
	err = s.db.View(func(t state.Txn) error {
		set, _, err = get[chain.Set](t, keyLoaders)
		return err
	})
	if err != nil {
		return nil, failing("read the boot loaders", err)
	}
	return set, nil
}

// PutLoaders puts the set of boot loaders in the place of the one before. It is on disk
// when it returns.
func (s *Store) PutLoaders(set chain.Set) error {
	err := s.update(func(t state.Txn) error { return put(t, keyLoaders, set) })
	if err != nil {
		return failing("keep the boot loaders", err)
	}
	return nil
}
