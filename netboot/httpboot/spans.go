package httpboot

import (
	"net/netip"
	"sync"
)

// maxSpans bounds the files that are fetched in parts at once; the one that was
// begun first is forgotten, and then counts as not fetched.
const maxSpans = 4096

type spanKey struct {
	token, file, etag string
	client            netip.Addr // for a fixed name, which has no token
}

// spans keeps how far each file was sent without a gap, so that a file which
// firmware assembled by Range requests counts as fetched.
type spans struct {
	mu    sync.Mutex
	ends  map[spanKey]int64
	order []spanKey
}

func newSpans() *spans { return &spans{ends: make(map[spanKey]int64)} }

// sent notes that bytes [from, to) of a file of the given size were sent. It
// returns true when with them the whole file was sent, once per whole.
func (s *spans) sent(k spanKey, from, to, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ends) == 0 && from == 0 && to == size {
		return true
	}
	end, known := s.ends[k]
	if from <= end && to > end {
		end = to
	} else if from != 0 || to != size { // an empty file is whole at once
		return false
	}
	if end >= size {
		s.drop(k)
		return true
	}
	if !known {
		if len(s.order) >= maxSpans {
			delete(s.ends, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, k)
	}
	s.ends[k] = end
	return false
}

func (s *spans) drop(k spanKey) {
	if _, ok := s.ends[k]; !ok {
		return
	}
	delete(s.ends, k)
	for i, o := range s.order {
		if o == k {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}
