package sim

import (
	"net/http"
	"sync"
	"time"
)

// Request is one that a BMC was sent.
type Request struct {
	At           time.Time // when its head had come
	Method, Path string
}

// requests are the last that came, as a BMC's own log has them. Its methods are safe for
// concurrent use.
type requests struct {
	mu  sync.Mutex
	all []Request
}

func (q *requests) note(r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == maxHistory {
		q.all = q.all[1:]
	}
	q.all = append(q.all, Request{At: time.Now(), Method: r.Method, Path: r.URL.Path})
}

// Requests are the last that came, oldest first.
func (b *BMC) Requests() []Request {
	q := &b.service.requests
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]Request(nil), q.all...)
}
