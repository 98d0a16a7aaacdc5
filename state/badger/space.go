package badger

import (
	"syscall"

	"rackboot/protocol"
)

// checkSpace refuses a write while the file system is nearly full; why is in
// doc.go. It costs one system call.
func (s *Store) checkSpace(op string) error {
	if s.cfg.InMemory {
		return nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.cfg.Dir, &fs); err != nil {
		return s.mapError(op, err)
	}
	// Bavail, not Bfree: the blocks that only root may use do not count.
	free := int64(fs.Bavail) * int64(fs.Bsize) //nolint:unconvert // the types differ by platform
	if free >= s.cfg.MinFree {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "insufficient storage: %d bytes are free on the file system of %s, writes need %d", free, s.cfg.Dir, s.cfg.MinFree).
		WithHint("free space on the file system of %s; writes work again without a restart", s.cfg.Dir)
}
