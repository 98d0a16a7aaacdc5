package decide

import "time"

// OnWatch is since when this run of the agent knows of an On that may still take effect.
type OnWatch struct {
	Pending time.Time     // of the attempt
	Since   time.Duration // by the clock of Snapshot.Uptime, which nobody sets
}
