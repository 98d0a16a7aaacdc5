package sim

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Latency is how long answers take, by percentile. The zero value is at once.
type Latency struct {
	P50, P90, P99, Max time.Duration
	// Slow are paths with a latency of their own; the first that fits counts.
	Slow []SlowPath
}

// SlowPath is the latency of the paths that contain a text.
type SlowPath struct {
	Contains string
	Takes    time.Duration
}

// latencyOf makes a latency of the mean and the maximum that were measured.
func latencyOf(mean, longest time.Duration, slow ...SlowPath) Latency {
	// The mean of draw is 0.505 times a base plus 0.0011 times the maximum.
	base := (float64(mean) - 0.0011*float64(longest)) / 0.505
	scaled := func(f float64) time.Duration { return time.Duration(f * base) }
	return Latency{P50: scaled(0.4), P90: scaled(0.8), P99: scaled(1.5), Max: longest, Slow: slow}
}

// draw is the latency of one answer; u is uniform in [0, 1).
func (l Latency) draw(path string, u float64) time.Duration {
	for _, s := range l.Slow {
		if strings.Contains(path, s.Contains) {
			return s.Takes
		}
	}
	between := func(from, to time.Duration, f float64) time.Duration {
		return from + time.Duration(float64(to-from)*f)
	}
	switch {
	case u < 0.5:
		return between(l.P50/2, l.P50, u/0.5)
	case u < 0.9:
		return between(l.P50, l.P90, (u-0.5)/0.4)
	case u < 0.99:
		return between(l.P90, l.P99, (u-0.9)/0.09)
	default:
		return between(l.P99, max(l.P99, l.Max), math.Pow((u-0.99)/0.01, 8))
	}
}

// newDice makes the source of latencies; equal seeds give equal latencies.
func newDice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
