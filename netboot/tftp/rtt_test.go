package tftp

import (
	"testing"
	"time"
)

// TestRTT: RFC 6298 section 2, with a floor and the timer above.
func TestRTT(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name    string
		samples []time.Duration
		times   int
		want    time.Duration
	}{
		{"nothing is known", nil, 0, time.Second},
		{"nothing is known, again", nil, 3, time.Second},
		{"a fast client has the floor", []time.Duration{ms}, 0, minResend},
		{"twice as long each time", []time.Duration{ms}, 2, 800 * ms},
		{"and at most the timer", []time.Duration{ms}, 3, time.Second},
		{"ever", []time.Duration{ms}, 1000, time.Second},
		{"the first sample varies by its half", []time.Duration{100 * ms}, 0, 300 * ms},
		{"steady ones vary less", []time.Duration{100 * ms, 100 * ms, 100 * ms}, 0, 100*ms + 4*28125*time.Microsecond},
		{"a slow one counts", []time.Duration{100 * ms, 300 * ms}, 0, 125*ms + 4*(87500*time.Microsecond)},
		{"a clock that goes back", []time.Duration{-time.Hour}, 0, minResend},
	} {
		var r rtt
		for _, s := range row.samples {
			r.sample(s)
		}
		if got := r.resend(row.times, time.Second); (got - row.want).Abs() > 10*time.Microsecond {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	slow := rtt{}
	slow.sample(3 * time.Second)
	if got := slow.resend(0, time.Second); got != time.Second {
		t.Errorf("a slow client: %s", got)
	}
}
