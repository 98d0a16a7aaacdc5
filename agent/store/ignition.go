package store

import (
	"maps"
	"slices"

	"rackboot/state"
)

// userDataKey names a blob that is sealed user data, so that it is destroyed when no
// claim needs it any more, also after a crash.
func userDataKey(digest string) string { return "userdata/" + digest }

// NoteUserData records that a blob is user data. It is on disk before the blob is.
func (s *Store) NoteUserData(digest string) error {
	return s.update(func(t state.Txn) error { return put(t, userDataKey(digest), digest) })
}

// UserData are the digests of the blobs that are user data, in order.
func (s *Store) UserData() (digests []string, err error) {
	all := map[string]bool{}
	err = s.db.View(func(t state.Txn) error {
		kept, err := scan[string](t, userDataKey(""))
		for _, d := range kept {
			all[d] = true
		}
		return err
	})
	return slices.Sorted(maps.Keys(all)), err
}

// ForgetUserData drops the record of a blob that was destroyed.
func (s *Store) ForgetUserData(digest string) error {
	return s.update(func(t state.Txn) error { return t.Delete(userDataKey(digest)) })
}
