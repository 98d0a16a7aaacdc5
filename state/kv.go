package state

import (
	"context"
	"time"
)

// Entry is one key at one revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Deleted  bool // in a Watch: the key was deleted at Revision
}

// KV is the hub's store: compare-and-set per key, and of several keys all or nothing.
// A write is on disk when the call returns. Keys are levels of
// [A-Za-z0-9_=-] joined by dots. Errors wrap those of this package and carry a
// code of package protocol; after a timeout the outcome of a write is unknown.
// All methods are safe for concurrent use.
type KV interface {
	// Get returns ErrNotFound if the key does not exist.
	Get(ctx context.Context, key string) (Entry, error)
	// Buried returns the last value that a deleted key had, while the deletion is kept. It
	// returns ErrNotFound for a key that exists, that never did, or that is forgotten.
	Buried(ctx context.Context, key string) (Entry, error)
	// Create returns ErrConflict if the key exists.
	Create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	// Update returns ErrConflict if the key's revision is not the given one. The
	// revision of a deletion counts, until it is forgotten: who saw it in a Watch may write from there.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Delete returns ErrConflict if the key's revision is not the given one.
	Delete(ctx context.Context, key string, revision uint64) error
	// Commit writes several keys, all or nothing, and returns a revision for each op, in their
	// order; a check has 0. The revisions of a commit follow one another. One key that is not at
	// its expected revision refuses everything with a [ConflictError]. invalid is what [CheckOps]
	// says. One op alone is the same as the single write.
	//
	// After a timeout, or another error that is neither invalid nor a conflict, all of it is
	// written or nothing is. To find out, commit the same again: no revision is replaced twice. If
	// that is a conflict, read a key that it writes: its value says which it was.
	Commit(ctx context.Context, ops []Op) (revisions []uint64, err error)
	// List returns the live entries below prefix ("claims." or "" for all) in key
	// order, and the store's revision at which the list was complete. Of a commit it has
	// everything or nothing. It reads the whole store, whatever the prefix.
	List(ctx context.Context, prefix string) ([]Entry, uint64, error)
	// Watch delivers every change below prefix with a revision greater than
	// after, in revision order, until ctx ends, the store is lost, or a deletion was
	// forgotten that the reader has not seen; then the
	// channel is closed, and if ctx has not ended the reader lists again. A change is the
	// entries of one commit below prefix, or the one entry of a single write: whoever applies
	// the whole of each at once never sees half of a commit. It
	// returns ErrConflict if the store has not reached after (it was restored from
	// an older copy), or a deletion after it was forgotten. A slow reader slows its own watch only; one that lags by more
	// revisions of a key than the store keeps misses the oldest of them, never the
	// newest: where part of a commit is missed, everything up to the store's present revision
	// comes as one change, each key once. A reader that begins at a revision within a commit
	// gets the rest of it as one change.
	Watch(ctx context.Context, prefix string, after uint64) (<-chan []Entry, error)
	// Forget takes keys out of the store that were deleted before a time, with all of their
	// revisions, up to [MaxForget] of them, and returns how many. One that was created again stays.
	// A store may leave what it cannot take out such that it stays away.
	// It also completes what a call did not that was cut off; with the zero time only that.
	Forget(ctx context.Context, before time.Time) (int, error)
}

// KeepDeletions is how long a deletion stays in a store. A reader that was away for longer lists
// again, which costs a second: a week is longer than the repairs and holidays after which
// readers come back, and short enough that what is deleted each day is not much.
const KeepDeletions = 7 * 24 * time.Hour

// MaxForget bounds the keys that are forgotten at once: what goes is written down before in one
// message, with keys of 512 bytes at most.
const MaxForget = 256

// Record is one record of a Log.
type Record struct {
	Seq     uint64
	Subject string
	Data    []byte
	At      time.Time // when it was appended, by the store's clock
}

// Log is append-only: provisioned records, receipts, events. What is old may be cut off.
type Log interface {
	// Append is durable when it returns. A non-empty id makes the append
	// idempotent for two minutes at least.
	Append(ctx context.Context, subject string, data []byte, id string) (seq uint64, err error)
	// AppendAfter is Append of the record that comes next after the one of subject with Seq last; 0 is that
	// there is none yet. Where another one came first it stores nothing, and fails with ErrConflict.
	AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (seq uint64, err error)
	// Read returns up to limit records of subject ("" for all) with Seq >= from.
	Read(ctx context.Context, subject string, from uint64, limit int) ([]Record, error)
	// Tail returns the newest records of subject that were there when it was called, up to limit,
	// in the order of Seq. It does not read those before.
	Tail(ctx context.Context, subject string, limit int) ([]Record, error)
	// Cut removes the records of subject up to a Seq, but never the newest of them.
	Cut(ctx context.Context, subject string, upTo uint64) error
	// Size is how many bytes all records take, more or less.
	Size(ctx context.Context) (uint64, error)
}
