package daemon

import (
	"context"
	"log/slog"
	"time"

	"rackboot/state"
)

const (
	// forgetEvery is how often it is looked for deletions that are old enough to go.
	forgetEvery = 10 * time.Minute
	// forgetTurns bounds how often that is done at once: the writes of others wait meanwhile.
	forgetTurns = 16
	// steadyFor is how long a clock must go as the time does before anything goes by it: a clock that
	// was set wrong is mostly set right within that.
	steadyFor = time.Hour
	// clockJump is by how much a clock may go otherwise than the time between two looks.
	clockJump = time.Minute
)

// deletions take what was deleted long ago out of the store.
type deletions struct {
	kv      state.KV
	clock   state.Clock
	healthy func() error
	log     *slog.Logger
}

// run forgets deletions until ctx ends.
func (d *deletions) run(ctx context.Context) error {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	c := steady{}
	c.since(d.clock(), time.Now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := d.clock()
		if c.since(now, time.Now()) < steadyFor || d.healthy() != nil {
			continue
		}
		if err := d.forget(ctx, now.Add(-state.KeepDeletions)); err != nil && ctx.Err() == nil {
			d.log.Warn("old deletions were not taken out of the store", "err", err)
		}
	}
}

func (d *deletions) forget(ctx context.Context, before time.Time) error {
	total := 0
	for range forgetTurns {
		n, err := d.kv.Forget(ctx, before)
		if err != nil {
			return err
		}
		if total += n; n < state.MaxForget {
			break
		}
	}
	if total > 0 {
		d.log.Info("old deletions were taken out of the store", "keys", total, "deleted_before", before)
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
