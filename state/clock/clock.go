//go:build !storm

package clock

import "time"

// Now is the host's time, with its monotonic reading.
func Now() time.Time { return time.Now() }
