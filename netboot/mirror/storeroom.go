package mirror

import (
	"syscall"

	"rackboot/protocol"
)

// reserve takes that many bytes of room, and removes what was used least recently if it
// must: not what is pinned or being read. It removes nothing if that would not be enough.
// Errors: unavailable.
func (s *store) reserve(op string, want int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	free, err := s.free(op)
	if err != nil {
		return err
	}
	var victims []*content
	for at := s.recent.Back(); free < want; at = at.Prev() {
		if at == nil {
			return protocol.Errorf(protocol.CodeUnavailable, op, "no room in the mirror's cache %s: %d bytes are needed, there are %d", s.dir, want, max(0, free)).
				WithHint("raise the quota of the mirror's cache, or free space on its disk; pinned files and those being read stay")
		}
		if c := at.Value.(*content); c.pins == 0 && c.open == 0 {
			free += cost(c.size)
			victims = append(victims, c)
		}
	}
	for _, c := range victims {
		s.remove(c)
		s.evicted()
		s.logger.Debug("file removed from the mirror's cache to make room", "content", c.hash)
	}
	s.reserved += want
	return nil
}

// unreserve gives the room back.
func (s *store) unreserve(room int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved -= room
}

// free is what both the quota and the file system leave, in bytes. Fetches under way
// count in full besides what of them is on disk: too careful, never too bold. The lock
// is held.
func (s *store) free(op string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &st); err != nil {
		return 0, protocol.Errorf(protocol.CodeInternal, op, "%s: %w", s.dir, err)
	}
	disk := int64(st.Bavail)*int64(st.Bsize) - s.minFree - s.reserved //nolint:unconvert // the types differ by platform
	return min(disk, s.quota-s.used-s.reserved), nil
}
