package backup

import (
	"context"
	"time"
)

// Schedule says when backups are made: Every so long, or each day At a time.
type Schedule struct {
	Every time.Duration
	// At is the time of day, since midnight, in Zone; it counts where Every is 0.
	At   time.Duration
	Zone *time.Location
}

const (
	day = 24 * time.Hour
	// lookEvery is how often it is looked whether a backup is due: a clock may be set.
	lookEvery = 15 * time.Second
	// firstRetry and lastRetry are how long it is waited after an attempt that failed: the first doubles
	// with each.
	firstRetry = time.Minute
	lastRetry  = time.Hour
)

func (s Schedule) set() bool { return s.Every > 0 || s.Zone != nil }

// every is the time between two.
func (s Schedule) every() time.Duration {
	if s.Every > 0 {
		return s.Every
	}
	return day
}

// due is when the next backup is to be made, after one that was made at last, or none:
//
//	last          | every            | at
//	none          | now              | now
//	in the future | now              | now
//	else          | last + every     | the first such time of day after last
func (s Schedule) due(last, now time.Time) time.Time {
	switch {
	case last.IsZero(), last.After(now):
		return now
	case s.Every > 0:
		return last.Add(s.Every)
	}
	in := last.In(s.Zone)
	for d := 0; ; d++ {
		// A time that a change of the clocks leaves out is an hour later, and one that comes twice is
		// the first.
		at := time.Date(in.Year(), in.Month(), in.Day()+d, 0, 0, int(s.At/time.Second), 0, s.Zone)
		if at.After(last) {
			return at
		}
	}
}

// retry is when it is tried again after failures, one after the other.
func (s Schedule) retry(failed time.Time, failures int) time.Time {
	pause := firstRetry << min(failures-1, 10)
	return failed.Add(min(pause, lastRetry, s.every()))
}

// Run makes backups when they are due, until ctx ends. It returns at once without a place.
func (r *Room) Run(ctx context.Context) error {
	if r.cfg.Place == nil || r.Refused() != nil {
		return nil
	}
	r.sweep(ctx)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if now := r.cfg.Clock(); !now.Before(r.plan(now)) {
			try, cancel := context.WithTimeout(ctx, r.patience())
			made, err := r.keep(try)
			cancel()
			if ctx.Err() != nil {
				return nil // what was begun is removed
			}
			r.ended(made, err)
			r.plan(r.cfg.Clock())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// patience bounds one attempt.
func (r *Room) patience() time.Duration {
	return max(min(r.cfg.Schedule.every(), maxPatience), time.Minute)
}

const maxPatience = 6 * time.Hour

// sweep removes what an earlier run has begun.
func (r *Room) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.cfg.Place.Sweep(ctx); err != nil && ctx.Err() == nil {
		r.cfg.Logger.Warn("unfinished backups of an earlier start were not removed", "place", r.cfg.Place.String(), "err", err)
	}
}

// plan says when the next backup is made.
func (r *Room) plan(now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last time.Time
	if r.last != nil {
		last = r.last.Made
	}
	r.next = r.cfg.Schedule.due(last, now)
	if f := r.failure; f != nil {
		again := r.cfg.Schedule.retry(f.At, f.Count)
		if f.At.After(now) {
			again = now
		}
		if again.After(r.next) {
			r.next = again
		}
	}
	return r.next
}
