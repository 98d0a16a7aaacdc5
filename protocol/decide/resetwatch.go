package decide

import "time"

// ResetWatch is what reads of this run have shown of the LastResetTime.
type ResetWatch struct {
	// Time is that of the last read that had one; Since and Last are when it was first and last
	// read, by the clock of Snapshot.Uptime.
	Time        time.Time
	Since, Last time.Duration
	// Ahead is how far the BMC's clock was ahead of that clock at At; Read is that it was read.
	Ahead, At time.Duration
	Read      bool
}

// BMCClock is how far a BMC's clock was ahead of the host's, at a time of the host's. It is for
// what an earlier run of the agent has read.
type BMCClock struct {
	Ahead time.Duration `json:"ahead"`
	At    time.Time     `json:"at"`
}
