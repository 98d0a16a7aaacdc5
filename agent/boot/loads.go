package boot

import "sync"

// loaded counts what was read of one medium since the power-on.
type loaded struct {
	mu    sync.Mutex
	token string
	bytes int64
}

// add counts, and says whether it is enough to be a boot.
func (l *loaded) add(token string, n, enough int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token != token {
		l.token, l.bytes = token, 0
	}
	l.bytes += n
	return l.bytes >= enough
}

// loads are what was read of the media of servers; the rack bounds them.
type loads struct {
	mu sync.Mutex
	by map[string]*loaded
}

func (l *loads) of(server string) *loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]*loaded{}
	}
	if l.by[server] == nil {
		l.by[server] = &loaded{}
	}
	return l.by[server]
}
