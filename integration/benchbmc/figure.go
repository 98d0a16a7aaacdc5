package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rackboot/protocol"
)

// figure is one kind of operation: how long each took, and how each failed.
type figure struct {
	mu     sync.Mutex
	took   []time.Duration
	errors map[protocol.Code]int
}

func (f *figure) add(took time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.took = append(f.took, took)
		return
	}
	if f.errors == nil {
		f.errors = make(map[protocol.Code]int)
	}
	f.errors[protocol.CodeOf(err)]++
}

// at is the time within which a share of the operations ended well; 0 without any.
func (f *figure) at(share float64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return percentile(f.took, share)
}

func (f *figure) count() (good, bad int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.errors {
		bad += n
	}
	return len(f.took), bad
}

func (f *figure) String() string {
	good, bad := f.count()
	s := fmt.Sprintf("%d, p50 %s, p99 %s, %d errors", good, round(f.at(0.5)), round(f.at(0.99)), bad)
	if bad > 0 {
		s += fmt.Sprintf(" %v", f.errors)
	}
	return s
}

// percentile is by the nearest rank.
func percentile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}

// usage is what this process has used.
type usage struct {
	cpu time.Duration // user and system
	rss float64       // resident, in MB
	at  time.Time
}

func usageNow() usage {
	u := usage{at: time.Now()}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return u
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			u.rss = kb / 1000
		}
	}
	return u
}

// since says what share of one CPU was used since then, and what is resident.
func (u usage) since(before usage) string {
	return fmt.Sprintf("CPU %.1f %% of one core, %.1f MB resident", 100*float64(u.cpu-before.cpu)/float64(u.at.Sub(before.at)), u.rss)
}
