package benchreport

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is USER_HZ, which Linux has at 100 on every architecture that Go runs on.
const ticks = 100

// Usage is what the processes of a server have used.
type Usage struct {
	CPU time.Duration // user and system
	RSS float64       // largest resident set, MiB; of several processes the sum
	Now float64       // resident set, MiB, now
	Own float64       // of that, what is not of files, MiB
}

// Add adds what a process has used; one that has ended adds nothing.
func (u *Usage) Add(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return unlessEnded(err)
	}
	cpu, err := cpuOf(string(stat))
	if err != nil {
		return err
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return unlessEnded(err)
	}
	u.CPU += cpu
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			u.RSS += kb / 1024
		}
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			u.Now += kb / 1024
		}
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
			u.Own += kb / 1024
		}
	}
	return nil
}

// unlessEnded is the error but for a process that is gone, before or while its file is
// read: proc(5).
func unlessEnded(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
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

// String is the part of it that a table shows.
func (u Usage) String() string {
	return fmt.Sprintf("peak RSS %.0f MiB, %.0f of it anonymous at the end", u.RSS, u.Own)
}
