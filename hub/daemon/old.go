package daemon

import (
	"context"
	"log/slog"
	"time"

	"rackboot/state"
)

const (
	// oldEvery is how often it is looked for what is old enough to go.
	oldEvery = 10 * time.Minute
	// forgetTurns bounds how often deletions go at once: the writes of others wait meanwhile.
	forgetTurns = 16
	// steadyFor is how long a clock must go as the time does before anything goes by it: a clock that
	// was set wrong is mostly set right within that.
	steadyFor = time.Hour
	// clockJump is by how much a clock may go otherwise than the time between two looks.
	clockJump = time.Minute
)

// old takes out of the store what is: deletions, and events.
type old struct {
	kv      state.KV
	events  func(ctx context.Context, now time.Time, steady bool) error // nil is none
	busy    func() bool                                                 // the store is being copied, so that nothing may be taken out of it; nil is never
	clock   state.Clock
	healthy func() error
	log     *slog.Logger
}

// run looks for what is old until ctx ends.
func (o *old) run(ctx context.Context) error {
	tick := time.NewTicker(oldEvery)
	defer tick.Stop()
	c := steady{}
	c.since(o.clock(), time.Now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := o.clock()
		if steady := c.since(now, time.Now()) >= steadyFor; o.healthy() == nil && (o.busy == nil || !o.busy()) {
			o.look(ctx, now, steady)
		}
	}
}

// look goes by a time that is to be believed or not.
func (o *old) look(ctx context.Context, now time.Time, steady bool) {
	if steady {
		if err := o.forget(ctx, now.Add(-state.KeepDeletions)); err != nil && ctx.Err() == nil {
			o.log.Warn("old deletions were not taken out of the store", "err", err)
		}
	}
	if o.events == nil {
		return
	}
	if err := o.events(ctx, now, steady); err != nil && ctx.Err() == nil {
		o.log.Warn("old events were not taken out of the store", "err", err)
	}
}

func (o *old) forget(ctx context.Context, before time.Time) error {
	total := 0
	for range forgetTurns {
		n, err := o.kv.Forget(ctx, before)
		if err != nil {
			return err
		}
		if total += n; n < state.MaxForget {
			break
		}
	}
	if total > 0 {
		o.log.Info("old deletions were taken out of the store", "keys", total, "deleted_before", before)
	}
	return nil
}

// steady tells for how long a clock has gone as the time does.
type steady struct {
	said, at time.Time // what it said last, and when
	from     time.Time
}

// since takes what the clock says now, and a time with a monotonic reading.
func (s *steady) since(says, now time.Time) time.Duration {
	if s.at.IsZero() || (says.Round(0).Sub(s.said)-now.Sub(s.at)).Abs() > clockJump {
		s.from = now
	}
	s.said, s.at = says.Round(0), now
	return now.Sub(s.from)
}
