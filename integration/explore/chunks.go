package explore

import "iter"

// chunk is how many values lie together: a list grows without being copied, and what was drained goes at once.
const chunk = 1 << 14

type chunks[T any] struct{ all [][]T }

func (c *chunks[T]) add(v T) {
	if n := len(c.all); n == 0 || len(c.all[n-1]) == chunk {
		c.all = append(c.all, make([]T, 0, chunk))
	}
	n := len(c.all) - 1
	c.all[n] = append(c.all[n], v)
}

func (c *chunks[T]) len() int {
	if len(c.all) == 0 {
		return 0
	}
	return (len(c.all)-1)*chunk + len(c.all[len(c.all)-1])
}

func (c *chunks[T]) at(i int) T { return c.all[i/chunk][i%chunk] }

// drain gives the values in order, and lets go of them.
func (c *chunks[T]) drain() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, part := range c.all {
			for _, v := range part {
				if !yield(v) {
					return
				}
			}
			c.all[i] = nil
		}
	}
}

// set has hashes, by open addressing; 0 is a free place.
type set struct {
	slots []uint64
	n     int
}

func newSet() *set { return &set{slots: make([]uint64, 1<<16)} }

// add reports whether a hash is new.
func (s *set) add(h uint64) bool {
	if h == 0 {
		h = 1
	}
	if s.n*4 >= len(s.slots)*3 {
		old := s.slots
		s.slots = make([]uint64, 2*len(old))
		for _, o := range old {
			if o != 0 {
				s.slots[s.place(o)] = o
			}
		}
	}
	i := s.place(h)
	if s.slots[i] == h {
		return false
	}
	s.slots[i], s.n = h, s.n+1
	return true
}

// place is where a hash is, or the free place where it goes.
func (s *set) place(h uint64) uint64 {
	mask := uint64(len(s.slots) - 1)
	i := h & mask
	for s.slots[i] != 0 && s.slots[i] != h {
		i = (i + 1) & mask
	}
	return i
}
