package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is USER_HZ, which Linux has at 100 on every architecture that Go runs on.
const ticks = 100

// usage is what the processes of a server have used.
type usage struct {
	cpu time.Duration // user and system
	rss float64       // largest resident set, MiB; of several processes the sum
	own float64       // of that, what is not of files, MiB, now
}

// used sums over the processes in the server's namespace.
func (c *contestant) used() (usage, error) {
	var u usage
	ids, err := c.server.Processes()
	if err != nil {
		return u, err
	}
	for _, id := range ids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err != nil {
			continue // it has ended
		}
		cpu, err := cpuOf(string(stat))
		if err != nil {
			return u, err
		}
		u.cpu += cpu
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			var kb float64
			if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
				u.rss += kb / 1024
			}
			if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
				u.own += kb / 1024
			}
		}
	}
	return u, nil
}

// cpuOf reads utime and stime, the fields 14 and 15 of proc(5) stat; the second is a
// name in parentheses that may hold anything.
func cpuOf(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("a process has the state %q", stat)
	}
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * time.Second / ticks
	}
	return sum, nil
}

// resting is the part of it that a table shows.
func (u usage) String() string {
	return fmt.Sprintf("peak RSS %.0f MiB, %.0f of it anonymous at the end", u.rss, u.own)
}
