package api

import "sync"

// slots bounds what is done at once, of all and of each who does it. It is safe for
// concurrent use.
type slots struct {
	most, each int

	mu  sync.Mutex
	all int
	by  map[string]int
}

func newSlots(most, each int) *slots { return &slots{most: most, each: each, by: map[string]int{}} }

// begin takes a slot, if there is one; end gives it back.
func (s *slots) begin(who string) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || s.by[who] >= s.each {
		return nil, false
	}
	s.all++
	s.by[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.by[who]--; s.by[who] == 0 {
			delete(s.by, who)
		}
	}, true
}
