package audit

import (
	"slices"
	"sync"
	"time"
)

// head is the last entry of a log.
type head struct {
	seq  uint64
	hash string
}

// contents is what the log is known to have. Only the writer changes it, but for broken; the
// writer reads it without the lock.
type contents struct {
	mu        sync.RWMutex
	head      head
	uncovered int               // entries after the last signed one
	segments  []segment         // in order; the last one is written
	broken    map[string]string // segments that are broken, and why
}

// current is the segment that is written.
func (c *contents) current() segment { return c.segments[len(c.segments)-1] }

// after are the segments from the one that has the entry on, and the head.
func (c *contents) after(from uint64) ([]segment, head) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.segments) == 0 {
		return nil, c.head
	}
	i := 0
	for j, s := range c.segments {
		if s.first <= from {
			i = j
		}
	}
	return slices.Clone(c.segments[i:]), c.head
}

// last is the last entry that is on disk.
func (c *contents) last() head {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head
}

// since is the number of an entry before which all are older than at.
func (c *contents) since(at time.Time) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	seq := uint64(1)
	for _, s := range c.segments {
		if s.at.IsZero() {
			continue // its first line cannot be read
		}
		if !s.at.Before(at) {
			break
		}
		seq = s.first
	}
	return seq
}
