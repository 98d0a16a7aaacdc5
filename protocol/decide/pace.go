package decide

import "time"

// Pace is how quick the boots of a server are: the shortest that was seen of boots that ended
// well and that nobody disputed. Nothing of the server can come in less than half of it. It
// only shrinks, so that who poisons it gets no more than a machine of which nothing is known
// yet.
type Pace struct {
	// Asks is from when the server ran to when its firmware asked for the boot.
	Asks time.Duration `json:"asks,omitempty"`
	// Reports is from the last byte of the boot files to the report, of the image Digest.
	Reports time.Duration `json:"reports,omitempty"`
	Digest  string        `json:"digest,omitempty"`
}

// within reports whether a moment is less than the time after another. One before it is not:
// the clock was set.
func within(now, after time.Time, d time.Duration) bool {
	past := now.Sub(after)
	return past >= 0 && past < d
}

// Start is when a server was started for its last attempt, and how soon after it its firmware
// may ask.
type Start struct {
	At    time.Time     // the last On; zero while the BMC has not taken it, nor shown the server On
	Least time.Duration // half of the shortest time that was seen
}

// Early reports whether firmware cannot have come so far yet that it asks for a boot.
func (s Start) Early(now time.Time) bool { return s.At.IsZero() || within(now, s.At, s.Least) }
