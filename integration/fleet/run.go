package fleet

import (
	"context"
	"errors"
	"time"
)

// Run makes a fleet, waits until it is in step, does the steps, or measures where there are none, and ends it.
func Run(ctx context.Context, cfg Config, steps []Step) (err error) {
	f, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if cfg.Image != "" && len(steps) == 0 {
		if _, err := f.Claim(ctx, Share{Percent: 100}); err != nil {
			return err
		}
	}
	if _, err := f.Await(ctx, Installed, time.Time{}, f.cfg.Within); err != nil {
		return err
	}
	if len(steps) > 0 {
		return f.Do(ctx, steps)
	}
	return f.Measure(ctx, cfg.Load)
}
