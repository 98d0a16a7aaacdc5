package store

import (
	"maps"
	"slices"

	"rackboot/state"
)

// userDataKey names a blob that is sealed user data, so that it is destroyed when no
// claim needs it any more, also after a crash.
func userDataKey(digest string) string { return "userdata/" + digest }

// UserData says which blobs are user data.
type UserData struct{ disk *disk }

// Note records that a blob is user data. It is on disk before the blob is.
func (u *UserData) Note(digest string) error {
	return u.disk.update(func(t state.Txn) error { return put(t, userDataKey(digest), digest) })
}

// Digests are the digests of the blobs that are user data, in order.
func (u *UserData) Digests() (digests []string, err error) {
	all := map[string]bool{}
	err = u.disk.db.View(func(t state.Txn) error {
		kept, err := scan[string](t, userDataKey(""))
		for _, d := range kept {
			all[d] = true
		}
		return err
	})
	return slices.Sorted(maps.Keys(all)), err
}

// Forget drops the record of a blob that was destroyed.
func (u *UserData) Forget(digest string) error {
	return u.disk.update(func(t state.Txn) error { return t.Delete(userDataKey(digest)) })
}
