package badger

import (
	"errors"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"rackboot/protocol"
	"rackboot/state"
)

// mapError gives an error of Badger or the system a code; an error that has
// one, and nil, stay.
func (s *Store) mapError(op string, err error) error {
	var coded *protocol.Error
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case is(err, syscall.EWOULDBLOCK):
		return protocol.Errorf(protocol.CodeConflict, op, "another process has the store in %s open: %w", s.cfg.Dir, err).
			WithHint("stop the other process; its id is in %s/LOCK", s.cfg.Dir)
	case is(err, syscall.ENOSPC), is(err, syscall.EDQUOT), is(err, syscall.EFBIG):
		return protocol.Errorf(protocol.CodeUnavailable, op, "no space for the store in %s: %w", s.cfg.Dir, err).
			WithHint("free space on the file system of %s, or raise its quota; then try again", s.cfg.Dir)
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", state.ErrClosed)
	}
	return protocol.Errorf(protocol.CodeInternal, op, "the store in %s: %w", s.cfg.Dir, err).
		WithHint("check the disk and the permissions of %s; if the store is damaged, restore a snapshot or replace the agent", s.cfg.Dir)
}

// is reports whether err comes from errno. Badger wraps errors by their text
// only, so the text is looked for too.
func is(err error, errno syscall.Errno) bool {
	return errors.Is(err, errno) || strings.Contains(err.Error(), errno.Error())
}
