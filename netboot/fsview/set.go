package fsview

import "sync"

// Set is the views of all servers that have one. The zero value is empty.
type Set struct {
	mu    sync.RWMutex
	views map[string]*View
}

// Get gives a server's view, acquired: the caller releases it. Who opens all files of one
// answer in it sees one generation, whatever is swapped meanwhile.
func (s *Set) Get(server string) (*View, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := s.views[server]
	if v == nil || !v.Acquire() {
		return nil, false
	}
	return v, true
}

// Swap gives a server a new view, which is the set's from then on, and releases the old
// one. A nil view is as Drop.
func (s *Set) Swap(server string, v *View) {
	if old := s.exchange(server, v); old != nil {
		old.Release()
	}
}

func (s *Set) exchange(server string, v *View) (old *View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old = s.views[server]
	switch {
	case v == nil:
		delete(s.views, server)
	case s.views == nil:
		s.views = map[string]*View{server: v}
	default:
		s.views[server] = v
	}
	return old
}

// Drop releases a server's view, if it has one.
func (s *Set) Drop(server string) { s.Swap(server, nil) }

// Servers are those that have a view, in no order.
func (s *Set) Servers() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]string, 0, len(s.views))
	for server := range s.views {
		all = append(all, server)
	}
	return all
}
