package link

import (
	"sync"
	"time"

	"rackboot/state"
)

// hubClock is the hub's clock as far as the agent knows it: never behind, so that
// what may not be done after a moment is done too early or not at all. It goes by the
// monotonic clock; where the wall clock goes another way, one of the two was
// stepped or the host was suspended, and nothing is known any more. A Clock without
// monotonic readings has one hand only, and is believed. It is safe for concurrent
// use.
type hubClock struct {
	clock state.Clock

	mu       sync.Mutex
	hub      time.Time // at heard, or later; zero is unknown
	heard    time.Time // by the agent's clock
	verified time.Time // until when the hub's word is fresh, by the agent's clock
	half     time.Time // when half of that has passed
	words    uint64    // how often the hub said something fresh
}

// maxDrift is how far wall clock and monotonic clock may go apart.
const maxDrift = 5 * time.Second

// learn takes the hub's time from a message that it made after asked.
func (h *hubClock) learn(at, asked time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = h.clock()
	h.hub = at.Add(max(0, h.heard.Sub(asked)))
}

// verify takes a word of the hub that is fresh for d after at.
func (h *hubClock) verify(at time.Time, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock()
	if h.heard.IsZero() {
		h.heard = now // drift is seen from here on
	}
	if !h.hub.IsZero() {
		d -= max(0, h.at(now).Sub(at))
	}
	h.verified, h.half = now.Add(d), now.Add(d/2)
	h.words++
}

// word is the hub's time, zero if it is not known or its last word is not fresh, and how
// many words there were. What goes by it must not outlive the words: a hub that is not heard
// may have been set right since.
func (h *hubClock) word() (time.Time, uint64) {
	at := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.clock().Before(h.verified) {
		at = time.Time{}
	}
	return at, h.words
}

// at is the hub's time; h.hub is known.
func (h *hubClock) at(now time.Time) time.Time { return h.hub.Add(max(0, now.Sub(h.heard))) }

// now is the hub's time, or later; zero if it is not known.
func (h *hubClock) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock()
	if h.hub.IsZero() || h.drifted(now) {
		return time.Time{}
	}
	return h.at(now)
}

// advance takes over that it is later at the hub than was known: clocks run apart.
// It says so and forgets everything if the hub's was stepped.
func (h *hubClock) advance(at time.Time) (stepped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock()
	if h.hub.IsZero() || !at.After(h.at(now)) {
		return false
	}
	if at.Sub(h.at(now)) > maxDrift {
		h.forgetLocked()
		return true
	}
	h.hub = h.hub.Add(at.Sub(h.at(now)))
	return false
}

// drifted needs h.mu.
func (h *hubClock) drifted(now time.Time) bool {
	if h.heard.IsZero() {
		return false
	}
	apart := now.Sub(h.heard) - now.Round(0).Sub(h.heard.Round(0))
	return apart.Abs() > maxDrift
}

// lost says whether the clocks went apart, and forgets everything if so.
func (h *hubClock) lost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.drifted(h.clock()) {
		return false
	}
	h.forgetLocked()
	return true
}

// forget makes the hub's time unknown.
func (h *hubClock) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgetLocked()
}

func (h *hubClock) forgetLocked() {
	h.hub, h.heard, h.verified, h.half = time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

// fresh says whether the hub's word is, and whether it is time to ask again.
func (h *hubClock) fresh() (verified, ask bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock()
	return now.Before(h.verified), !now.Before(h.half)
}
