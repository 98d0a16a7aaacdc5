package main

import "time"

// sample is one hold that came to its receipt. All times of day are one machine's.
type sample struct {
	accept   time.Duration // how long Holds.Create took
	asked    time.Time     // Holds.Create was answered, or the agent had the hold: what was first
	enforced time.Time     // as the agent dates it
	cut                    // the BMC's own time
	settle   time.Duration
	fenced   time.Time // the receipt is on the agent's disk
	visible  time.Time // the hub's API says so
}

func (s sample) toAccept() time.Duration { return s.accept }

func (s sample) toEnforced() time.Duration { return s.enforced.Sub(s.asked) }

// toForced is until the BMC accepted the ForceOff, its answers before that included.
func (s sample) toForced() time.Duration { return s.Forced.Sub(s.asked) }

// notice is from Off until the receipt, without the settle window.
func (s sample) notice() time.Duration { return s.fenced.Sub(s.Off) - s.settle }

// overhead is what neither BMC nor settle window take.
func (s sample) overhead() time.Duration { return s.toForced() + s.notice() }

func (s sample) toVisible() time.Duration { return s.overhead() + s.visible.Sub(s.fenced) }

func (s sample) whole() time.Duration { return s.fenced.Sub(s.asked) }
