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

// tooSoon reports whether a report of the attempt comes sooner than the image can have run.
func (p Pace) tooSoon(a *Attempt, now time.Time) bool {
	return p.Digest == a.Order.Digest && !a.Marks.Fetched.IsZero() && within(now, a.Marks.Fetched, p.Reports/2)
}

// within reports whether a moment is less than the time after another. One before it is not:
// the clock was set.
func within(now, after time.Time, d time.Duration) bool {
	past := now.Sub(after)
	return past >= 0 && past < d
}

// learns takes over how quick an attempt was that ended well now.
func (r *Record) learns(a *Attempt, now time.Time) {
	if a.Claimants.Second != nil || a.Claimants.Foreign != nil || a.Marks.Assumed {
		return
	}
	least := func(p *time.Duration, from, to time.Time) {
		if took := to.Sub(from); !from.IsZero() && !to.IsZero() && took > 0 && (*p == 0 || took < *p) {
			*p = took
		}
	}
	least(&r.Pace.Asks, a.Stage.PowerOn.last(), a.Marks.Asked)
	if r.Pace.Digest != a.Order.Digest {
		r.Pace.Digest, r.Pace.Reports = a.Order.Digest, 0
	}
	least(&r.Pace.Reports, a.Marks.Fetched, now)
}

// Start is when a server was started for its last attempt, and how soon after it its firmware
// may ask.
type Start struct {
	At    time.Time     // the last On; zero while the BMC has not taken it, nor shown the server On
	Least time.Duration // half of the shortest time that was seen
}

// Start is when the server was started for its last attempt, as far as its BMC says so.
func (r *Record) Start() Start {
	a := r.Attempt
	if a == nil || a.Stage.PowerOn.Taken.IsZero() && r.Shown.Epoch <= a.Stage.Epoch {
		return Start{}
	}
	return Start{At: a.Stage.PowerOn.last(), Least: r.Pace.Asks / 2}
}

// Early reports whether firmware cannot have come so far yet that it asks for a boot.
func (s Start) Early(now time.Time) bool { return s.At.IsZero() || within(now, s.At, s.Least) }
