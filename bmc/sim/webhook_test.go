package sim

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
)

// webhook is a subscriber that works until it is told to fail.
type webhook struct {
	mu     sync.Mutex
	fails  bool
	events int
}

func (w *webhook) set(state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = state == "fails"
}

func (w *webhook) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

func (w *webhook) RoundTrip(*http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails {
		return nil, errors.New("no route")
	}
	w.events++
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
}

// eventStream is an open stream of events.
type eventStream struct {
	mu     sync.Mutex
	header http.Header
	text   bytes.Buffer
}

func (s *eventStream) Header() http.Header { return s.header }
func (s *eventStream) WriteHeader(int)     {}
func (s *eventStream) Flush()              {}

func (s *eventStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *eventStream) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.text.Bytes(), []byte("data: "))
}

// open opens a stream in the background.
func (r *replay) open(ctx context.Context, target string) {
	s := &eventStream{header: http.Header{}}
	r.streams = append(r.streams, s)
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	req.SetBasicAuth("u", "p")
	go r.roundTrip(s, req)
}
