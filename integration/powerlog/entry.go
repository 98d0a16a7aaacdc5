package powerlog

import "time"

// What says what happened to a machine.
type What string

// The values of What.
const (
	// Start is the begin of the process: the machine is off, whatever it was before.
	Start What = "start"
	// On is power; Reset a restart without a loss of power.
	On    What = "on"
	Reset What = "reset"
	Off   What = "off"
	// Button is a press of the power button, before what it does.
	Button What = "button"
	// Network is a boot file that firmware has loaded to its last byte; Detail is its URL.
	Network What = "network"
	// Disk is a boot of what is installed; Detail is the digest.
	Disk What = "disk"
	// Refused is a boot that came to nothing; Detail says why.
	Refused What = "refused"
	// Installed is a system that was written to the disk; Detail is the digest.
	Installed What = "installed"
)

// Whats lists the values.
func Whats() []What { return []What{Start, On, Reset, Off, Button, Network, Disk, Refused, Installed} }

// Time is a reading of CLOCK_BOOTTIME.
type Time int64

// Add is the time d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub is the time between two readings.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Entry is a line of the log.
type Entry struct {
	At     Time   `json:"at"`
	What   What   `json:"what"`
	Detail string `json:"detail,omitempty"`
}
