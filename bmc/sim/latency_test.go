package sim

import (
	"testing"
	"time"
)

func TestLatency(t *testing.T) {
	l := Latency{
		P50: 100 * time.Millisecond, P90: 200 * time.Millisecond, P99: 400 * time.Millisecond, Max: 9 * time.Second,
		Slow: []SlowPath{{"/Log", time.Minute}},
	}
	for _, tt := range []struct {
		u    float64
		want time.Duration
	}{
		{0, 50 * time.Millisecond}, {0.5, 100 * time.Millisecond}, {0.9, 200 * time.Millisecond}, {0.99, 400 * time.Millisecond},
	} {
		if got := l.draw("/Systems/1", tt.u); got != tt.want {
			t.Errorf("at %v: %s, want %s", tt.u, got, tt.want)
		}
	}
	if got := l.draw("/Systems/1", 0.999999); got < 8*time.Second || got > 9*time.Second {
		t.Errorf("the slowest takes %s", got)
	}
	if got := l.draw("/Systems/1/LogServices", 0); got != time.Minute {
		t.Errorf("a slow path takes %s", got)
	}
	if got := (Latency{}).draw("/", 0.9999); got != 0 {
		t.Errorf("the zero value takes %s", got)
	}
}
