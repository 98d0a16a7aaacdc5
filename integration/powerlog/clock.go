package powerlog

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Now reads CLOCK_BOOTTIME.
func Now() Time {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("clock_gettime(CLOCK_BOOTTIME): %v", err)) // every Linux of this century has it
	}
	return Time(ts.Nano())
}
