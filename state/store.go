package state

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound says that a key does not exist.
var ErrNotFound = errors.New("key not found")

// ErrConflict says that a revision was not the current one, or that a key to
// be created exists.
var ErrConflict = errors.New("conflict")

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("store closed")

// Clock tells the time. It is passed in so that tests decide what time it is.
type Clock func() time.Time

// Txn is one transaction. It is used by one goroutine. Values returned are the
// caller's to keep.
type Txn interface {
	// Get returns ErrNotFound if the key does not exist.
	Get(key string) ([]byte, error)
	Set(key string, value []byte) error
	// Delete of a key that does not exist is no error.
	Delete(key string) error
	// Scan calls fn for each key with the prefix in ascending order, until fn
	// returns an error, which Scan returns. It sees the transaction's own writes;
	// of those that fn makes meanwhile, it may see the ones ahead.
	Scan(prefix string, fn func(key string, value []byte) error) error
}

// Store is the agent's store: serialisable multi-key transactions that are on
// disk when the call returns. Serialisable holds for ranges too: of two
// transactions that each Scan a range and then write a key that the other's
// Scan would have shown, the second sees the first. Errors wrap the ones above
// and carry a code of package protocol. All methods are safe for concurrent use;
// fn must not call the Store.
type Store interface {
	// View runs fn on a consistent snapshot. Writes in it are an error.
	View(fn func(Txn) error) error
	// Update runs fn and commits with an fsync before it returns. If another
	// transaction wrote what fn read, fn is run again (bounded; then ErrConflict),
	// so fn must have no effect outside the transaction. An error of fn aborts.
	Update(fn func(Txn) error) error
	// Batch is Update for many small writers (leases): concurrent calls share
	// one fsync. fn may run more than once and must only depend on its Txn.
	// It returns when the write is on disk, or wraps ctx.Err() with outcome unknown.
	Batch(ctx context.Context, fn func(Txn) error) error
	// Close waits for the calls that have begun; later ones get ErrClosed.
	Close() error
}
