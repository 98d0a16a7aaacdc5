package sim

import (
	"fmt"
	"net/http"
)

// maxStreams is what OpenBMC's bmcweb serves (include/subscription.hpp).
const maxStreams = 10

// getStream opens a stream of server-sent events (DSP0266, event streams).
func (e *events) getStream(*request) *answer {
	rules := e.manner.now().Event
	limit := rules.MaxStreams
	if limit == 0 {
		limit = maxStreams
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.streams) >= limit {
		return refuse(&refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.EventSubscriptionLimitExceeded", text: "too many streams"})
	}
	events := make(chan []byte, 16)
	e.streams[events] = struct{}{}
	return &answer{status: http.StatusOK, stream: func(w http.ResponseWriter, r *http.Request) {
		e.stream(w, r, events, rules.StopAfter)
	}}
}

// stream sends events until the client goes or the BMC restarts. After stop
// events the connection stays and nothing more comes.
func (e *events) stream(w http.ResponseWriter, r *http.Request, events chan []byte, stop int) {
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.streams, events)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush(w)
	for n := 1; ; {
		select {
		case <-r.Context().Done():
			return
		case <-e.later.Context().Done():
			return
		case event, open := <-events:
			if !open {
				return
			}
			if stop > 0 && n > stop {
				continue
			}
			if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", n, event); err != nil {
				return
			}
			flush(w)
			n++
		}
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// closeStreams ends all streams. e.mu is held.
func (e *events) closeStreams() {
	for events := range e.streams {
		close(events)
		delete(e.streams, events)
	}
}
