//go:build storm

package clock

import (
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// fileVariable names the environment variable with the path of the file that has the
// offset of the wall clock, in nanoseconds.
const fileVariable = "RACKBOOT_STORM_CLOCK"

// Now is the host's time with its wall reading set off, and its monotonic reading as it is:
// what a process sees after somebody has set the clock. The file is read each time, which
// takes microseconds and needs no state of the package.
func Now() time.Time { return step(time.Now(), time.Duration(offset())) }

// offset reads the file. Without a file, or with one that cannot be read, the clock is
// right.
func offset() int64 {
	path := os.Getenv(fileVariable)
	if path == "" {
		return 0
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// layout is time.Time of Go 1.26: with hasMonotonic, wall has 33 bits of seconds since
// 1885 and 30 bits of nanoseconds, and ext the monotonic reading. TestStep holds it to
// that.
type layout struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

const (
	hasMonotonic = 1 << 63
	secondsShift = 30
	nanoseconds  = 1<<secondsShift - 1
)

// step moves the wall reading by whole seconds and keeps the monotonic one.
func step(t time.Time, d time.Duration) time.Time {
	l := (*layout)(unsafe.Pointer(&t))
	if l.wall&hasMonotonic == 0 {
		return t.Add(d)
	}
	seconds := int64(l.wall&^hasMonotonic>>secondsShift) + int64(d/time.Second)
	l.wall = hasMonotonic | uint64(seconds)<<secondsShift | l.wall&nanoseconds
	return t
}
