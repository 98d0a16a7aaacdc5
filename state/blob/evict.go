package blob

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"rackboot/protocol"
)

// makeRoom makes room for size bytes, removing blobs if it must. It removes nothing if
// that would not be enough. The lock is held.
func (s *Store) makeRoom(op, digest string, size int64) error {
	free, err := s.free(op)
	if err != nil {
		return err
	}
	var victims []string
	var gain int64
	if !s.cfg.Keep {
		victims, gain = s.room.victims(size - free)
	}
	if free+gain < size {
		return insufficient(op, digest, size, free+gain, s.cfg.Dir)
	}
	for _, name := range victims {
		if err := s.remove(name); err != nil {
			return protocol.Errorf(protocol.CodeInternal, op, "remove a blob to make room: %w", err)
		}
		s.metrics.evicted.Inc()
		if s.cfg.Evicted != nil {
			s.cfg.Evicted(digestPrefix + name)
			continue
		}
		s.cfg.Logger.Info("blob removed to make room", "digest", digestPrefix+name, "for", digest)
	}
	return nil
}

// free is how many bytes a new blob may have, without removing any: what both
// the quota and the file system leave.
func (s *Store) free(op string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.cfg.Dir, &st); err != nil {
		return 0, protocol.Errorf(protocol.CodeInternal, op, "%s: %w", s.cfg.Dir, err)
	}
	// Writes in progress are counted in full, though part of them is already on
	// the disk: too careful for a moment, never too bold.
	free := int64(st.Bavail)*int64(st.Bsize) - s.cfg.MinFree - s.room.reserved //nolint:unconvert // the types differ by platform
	var coming int64                                                           // of parts that are open: only what is not on the disk yet
	for name, size := range s.room.growing {
		coming += max(0, size-s.room.parts[name])
	}
	free -= coming
	if s.cfg.Quota > 0 {
		free = min(free, s.cfg.Quota-s.room.used-s.room.reserved-s.room.parted-coming)
	}
	return free, nil
}

// Capacity is how many bytes all blobs may have together: those that are there, and what
// quota and file system leave. It is that of the blobs alone where the file system does not
// say.
func (s *Store) Capacity() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	free, err := s.free("capacity")
	if err != nil {
		free = 0
	}
	return s.room.used + max(0, free)
}

// Used is the room that all blobs take, in bytes.
func (s *Store) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room.used
}

// Room is how much room a blob takes, in bytes; 0 if it is not there. It is no use of it.
func (s *Store) Room(digest string) int64 {
	size, there := s.Size(digest)
	if !there {
		return 0
	}
	return s.room.cost(size)
}

// Remove deletes a blob that nobody has pinned; one that is not there is no error. It is
// gone from the folder when Remove returns. Errors: invalid, also if it is pinned,
// internal.
func (s *Store) Remove(digest string) error {
	const op = "remove blob"
	name, err := parseDigest(op, digest)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room.pins[name] > 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s is pinned", digest)
	}
	if err := s.remove(name); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return nil
}

func (s *Store) remove(name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.room.forget(name)
	return nil
}

// ErrInsufficient is in the chain of an error of Write when quota or disk have
// no room for the blob.
var ErrInsufficient = errors.New("insufficient storage")

func insufficient(op, digest string, needed, free int64, dir string) error {
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w: %s needs %d bytes, %d are free in %s", ErrInsufficient, digest, needed, max(free, 0), dir).
		WithHint("raise the blob quota, free space on the file system of %s, or release images that are pinned", dir)
}
