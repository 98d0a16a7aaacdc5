package rig

import (
	"os"
	"strconv"
	"time"
)

// clockEnv names the file that binaries of the storm read their offset from; see package
// clock.
const clockEnv = "RACKBOOT_STORM_CLOCK"

// Clock is the host's clock as one daemon sees it.
type Clock struct{ file string }

// Step sets how far the daemon's clock is from the host's.
func (c Clock) Step(offset time.Duration) error {
	// In one rename, so that nobody reads half a number.
	if err := os.WriteFile(c.file+".new", []byte(strconv.FormatInt(int64(offset), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}

func (c Clock) env() string { return clockEnv + "=" + c.file }
