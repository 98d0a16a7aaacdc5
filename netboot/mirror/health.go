package mirror

import (
	"sync"
	"time"

	"rackboot/protocol"
)

// health is whether a site answers.
type health struct {
	mu      sync.Mutex
	known   bool
	ok      bool
	since   time.Time
	reached time.Time // its last answer
	broke   time.Time // its last failure
	code    protocol.Code
	why     string
	rest    time.Time // until when it is not asked for what is here
}

// answered notes an answer; changed says that it did not answer before.
func (h *health) answered(now time.Time) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = !h.known || !h.ok
	if changed {
		h.known, h.ok, h.since = true, true, now
	}
	h.reached, h.rest = now, time.Time{}
	return changed
}

// failed notes a failure; changed says that it answered before.
func (h *health) failed(now time.Time, err error) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = !h.known || h.ok
	if changed {
		h.known, h.ok, h.since = true, false, now
	}
	h.broke, h.code, h.why, h.rest = now, protocol.CodeOf(err), err.Error(), now.Add(restAfter)
	return changed
}

func (h *health) resting(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.rest)
}

func (h *health) answering() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known && h.ok
}

func (h *health) failing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known && !h.ok
}
