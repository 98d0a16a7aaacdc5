package sim

import (
	"strings"
	"sync"

	"rackboot/bmc/sim/tree"
)

// movedSystem is a system that has another path than the tree gives it: newer firmware of
// some BMCs names it otherwise. The zero value has moved nothing.
type movedSystem struct {
	mu        sync.Mutex
	tree, now string
}

// to moves the system; empty leaves it where it is.
func (m *movedSystem) to(tree, now string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now != "" {
		m.tree, m.now = tree, now
	}
}

// find gives a request the path of the tree; false if there is nothing at its path any more.
func (m *movedSystem) find(r *request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == "" {
		return true
	}
	if rest, below := under(r.uri, tree.Fold(m.now)); below {
		r.uri = tree.Fold(m.tree) + rest
		return true
	}
	_, gone := under(r.uri, tree.Fold(m.tree))
	return !gone
}

// show puts the present path into an answer.
func (m *movedSystem) show(a *answer) *answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now != "" && a.body != nil {
		a.body = m.rename(a.body).(tree.Object)
	}
	return a
}

// rename puts it into a value. m.mu is held.
func (m *movedSystem) rename(v any) any {
	switch c := v.(type) {
	case string:
		if rest, below := under(c, m.tree); below {
			return m.now + rest
		}
	case tree.Object:
		for k := range c {
			c[k] = m.rename(c[k])
		}
	case []any:
		for i := range c {
			c[i] = m.rename(c[i])
		}
	}
	return v
}

// under is what follows a path in another; false if it is not at or below it.
func under(uri, above string) (rest string, below bool) {
	rest, ok := strings.CutPrefix(uri, above)
	return rest, ok && (rest == "" || rest[0] == '/')
}
