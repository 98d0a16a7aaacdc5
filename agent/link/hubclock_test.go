package link

import (
	"testing"
	"time"
	"unsafe"

	"rackboot/protocol/message"
)

// wall is a clock without a monotonic hand.
type wall struct{ now time.Time }

func (w *wall) read() time.Time { return w.now }

var hubStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// TestHubTime: it is never behind the hub's, goes on by the agent's clock, and is
// known only after an answer.
func TestHubTime(t *testing.T) {
	own := &wall{time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)} // a host without a clock
	h := &hubClock{clock: own.read}
	if !h.now().IsZero() || h.lost() {
		t.Fatal("known from the start")
	}
	asked := own.now
	own.now = own.now.Add(3 * time.Second)
	h.learn(hubStart, asked) // made at any moment of the three seconds
	if got := h.now(); !got.Equal(hubStart.Add(3 * time.Second)) {
		t.Errorf("hub time %v", got)
	}
	own.now = own.now.Add(time.Hour)
	if got := h.now(); !got.Equal(hubStart.Add(time.Hour + 3*time.Second)) {
		t.Errorf("hub time after an hour %v", got)
	}
	for _, tt := range []struct {
		at      time.Duration
		want    time.Duration
		stepped bool
	}{
		{time.Hour, time.Hour + 3*time.Second, false},                 // late on its way
		{time.Hour + 4*time.Second, time.Hour + 4*time.Second, false}, // clocks run apart
		{2 * time.Hour, 0, true},                                      // the hub's was set
	} {
		if got := h.advance(hubStart.Add(tt.at)); got != tt.stepped {
			t.Errorf("at %v: stepped %t", tt.at, got)
		}
		if got := h.now(); tt.stepped != got.IsZero() || !tt.stepped && !got.Equal(hubStart.Add(tt.want)) {
			t.Errorf("at %v: hub time %v", tt.at, got)
		}
	}
}

// TestHubClockDrift: the monotonic clock stood still or the wall clock was stepped.
func TestHubClockDrift(t *testing.T) {
	base := time.Now() // with a monotonic reading, as in a daemon
	for name, tt := range map[string]struct {
		now  time.Time
		lost bool
	}{
		"a second by both":  {base.Add(time.Second), false},
		"an hour by both":   {base.Add(time.Hour), false},
		"wall a bit ahead":  {skewed(base, 4*time.Second), false},
		"wall stepped":      {skewed(base, 6*time.Second), true},
		"wall stepped back": {skewed(base, -6*time.Second), true},
		"suspended an hour": {skewed(base, time.Hour), true},
	} {
		now := base
		h := &hubClock{clock: func() time.Time { return now }}
		h.learn(hubStart, base)
		h.verify(hubStart, message.SyncValid)
		now = tt.now
		if known := !h.now().IsZero(); known == tt.lost {
			t.Errorf("%s: known %t", name, known)
		}
		if got := h.lost(); got != tt.lost {
			t.Errorf("%s: lost %t", name, got)
		}
		if tt.lost {
			now = base
			if verified, _ := h.fresh(); verified || !h.now().IsZero() {
				t.Errorf("%s: not forgotten", name)
			}
		}
	}
}

// TestFreshness: a word of the hub is worth less the older it is on arrival.
func TestFreshness(t *testing.T) {
	own := &wall{hubStart}
	h := &hubClock{clock: own.read}
	check := func(after time.Duration, want, ask bool) {
		t.Helper()
		own.now = hubStart.Add(after)
		if got, half := h.fresh(); got != want || half != ask {
			t.Errorf("after %v: verified %t, ask %t", after, got, half)
		}
	}
	check(0, false, true)
	h.learn(hubStart, hubStart)
	h.verify(hubStart, 10*time.Minute)
	check(4*time.Minute, true, false)
	check(6*time.Minute, true, true)
	check(10*time.Minute, false, true)
	h.verify(hubStart.Add(4*time.Minute), 10*time.Minute) // six minutes on its way
	check(13*time.Minute, true, true)
	check(14*time.Minute, false, true)
}

// skewed is a second later by the monotonic clock, and whole seconds d more by the
// wall's. Nothing public makes such a reading. Where there is a monotonic one, the
// first word of a time.Time counts seconds of the wall above 30 bits of nanoseconds
// (package time, type Time).
func skewed(base time.Time, d time.Duration) time.Time {
	now := base.Add(time.Second)
	*(*uint64)(unsafe.Pointer(&now)) += uint64(int64(d/time.Second)) << 30
	return now
}
