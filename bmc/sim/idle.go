package sim

import (
	"net/http"
	"sync"
	"time"
)

// lastUse is when a connection was last used.
type lastUse struct {
	mu sync.Mutex
	at time.Time
}

// useKey is the key of a connection's lastUse in a request's context.
type useKey struct{}

// idle says whether the request's connection was idle for too long, and notes
// this use.
func idle(r *http.Request, limit time.Duration) bool {
	use, ok := r.Context().Value(useKey{}).(*lastUse)
	if !ok {
		return false
	}
	use.mu.Lock()
	defer use.mu.Unlock()
	last := use.at
	use.at = time.Now()
	return limit > 0 && !last.IsZero() && time.Since(last) >= limit
}
