package decide

import "time"

// tooSoon reports whether a report of the attempt comes sooner than the image can have run.
func (p Pace) tooSoon(a *Attempt, now time.Time) bool {
	return p.Digest == a.Order.Digest && !a.Marks.Fetched.IsZero() && within(now, a.Marks.Fetched, p.Reports/2)
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

// Start is when the server was started for its last attempt, as far as its BMC says so.
func (r *Record) Start() Start {
	a := r.Attempt
	if a == nil || a.Stage.PowerOn.Taken.IsZero() && r.Shown.Epoch <= a.Stage.Epoch {
		return Start{}
	}
	return Start{At: a.Stage.PowerOn.last(), Least: r.Pace.Asks / 2}
}
