package broker

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rackboot/protocol"
)

// LockFile is the file in the store's folder that a running broker holds locked.
// The kernel unlocks it when the process ends, however it ends.
const LockFile = "LOCK"

// Hold keeps brokers out of a folder until release is called, so that its files can be read. A folder that is not there
// is nobody's. Errors: unavailable, where one runs.
func Hold(dir string) (release func(), err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	f, err := lock(dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// Lock keeps hubs away from a store's folder, and refuses one that a hub runs on. Close lets them in
// again. Errors: unavailable.
func Lock(dir string) (io.Closer, error) { return lock(dir) }

// lock keeps a second process out of the folder: the server itself does not, and
// two of them would destroy the store.
func lock(dir string) (*os.File, error) {
	const op = "broker.Open"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "cannot create the store's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "cannot lock the store: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "store %s is in use: %w", dir, err).
			WithHint("stop the other hub, or give this one another folder")
	}
	return f, nil
}
