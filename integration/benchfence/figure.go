package main

import (
	"slices"
	"time"
)

// figure is one time of many holds, in milliseconds.
type figure struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

func figureOf(samples []sample, of func(sample) time.Duration) figure {
	all := make([]time.Duration, len(samples))
	for i, s := range samples {
		all[i] = of(s)
	}
	slices.Sort(all)
	at := func(share float64) float64 { // by the nearest rank
		if len(all) == 0 {
			return 0
		}
		return float64(all[min(int(share*float64(len(all))), len(all)-1)].Microseconds()) / 1000
	}
	return figure{at(0.5), at(0.95), at(0.99), at(1)}
}
