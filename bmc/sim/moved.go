package sim

import "strings"

// movedSystem is a system that has another path than the tree gives it: newer firmware of
// some BMCs names it otherwise. The zero value has moved nothing.
type movedSystem struct{ tree, now string }

// to moves the system; empty leaves it where it is.
func (m *movedSystem) to(tree, now string) {
	if now != "" {
		m.tree, m.now = tree, now
	}
}

// find gives a request the path of the tree; false if there is nothing at its path any more.
func (m *movedSystem) find(r *request) bool {
	if m.now == "" {
		return true
	}
	if rest, below := under(r.uri, fold(m.now)); below {
		r.uri = fold(m.tree) + rest
		return true
	}
	_, gone := under(r.uri, fold(m.tree))
	return !gone
}

// show puts the present path into an answer.
func (m *movedSystem) show(a *answer) *answer {
	if m.now != "" && a.body != nil {
		a.body = m.rename(a.body).(object)
	}
	return a
}

func (m *movedSystem) rename(v any) any {
	switch c := v.(type) {
	case string:
		if rest, below := under(c, m.tree); below {
			return m.now + rest
		}
	case object:
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

// MoveSystem gives the first system another path, as an update of the BMC's firmware may.
func (b *BMC) MoveSystem(to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moves.to(b.hosts[0].place.uri, to)
}
