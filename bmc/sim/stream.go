package sim

import (
	"fmt"
	"net/http"
)

// maxStreams is what OpenBMC's bmcweb serves (include/subscription.hpp).
const maxStreams = 10

// getStream opens a stream of server-sent events (DSP0266, event streams).
func (b *BMC) getStream(*request) *answer {
	rules := b.personality.Event
	limit := rules.MaxStreams
	if limit == 0 {
		limit = maxStreams
	}
	if len(b.streams) >= limit {
		return refuse(&refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.EventSubscriptionLimitExceeded", text: "too many streams"})
	}
	events := make(chan []byte, 16)
	b.streams[events] = struct{}{}
	return &answer{status: http.StatusOK, stream: func(w http.ResponseWriter, r *http.Request) {
		b.stream(w, r, events, rules.StopAfter)
	}}
}

// stream sends events until the client goes or the BMC restarts. After stop
// events the connection stays and nothing more comes.
func (b *BMC) stream(w http.ResponseWriter, r *http.Request, events chan []byte, stop int) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.streams, events)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush(w)
	for n := 1; ; {
		select {
		case <-r.Context().Done():
			return
		case <-b.ctx.Done():
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

// closeStreams ends all streams. b.mu is held.
func (b *BMC) closeStreams() {
	for events := range b.streams {
		close(events)
		delete(b.streams, events)
	}
}
