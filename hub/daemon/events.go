package daemon

import (
	"context"
	"fmt"
	"time"
)

// Events says how long the events are kept that rackctl events shows. The audit log, and what agents
// have signed, stay.
type Events struct {
	// MaxAge is how long an event is kept, 24 h at least. Default 90 days.
	MaxAge time.Duration `yaml:"maxAge"`
	// QuotaMiB bounds the log that they are in, in MiB, by default 1024: beyond it the oldest go.
	QuotaMiB int64 `yaml:"quotaMiB"`
}

const (
	eventAge      = 90 * 24 * time.Hour
	eventQuotaMiB = 1 << 10
	minEventAge   = 24 * time.Hour
)

func (e Events) check() error {
	switch {
	case e.MaxAge != 0 && e.MaxAge < minEventAge:
		return fmt.Errorf("events.maxAge: %s is less than 24h; leave it out for the default", e.MaxAge)
	case e.QuotaMiB < 0:
		return fmt.Errorf("events.quotaMiB: a size is not less than 0; leave it out for the default")
	}
	return nil
}

// keeper keeps the events as the file says: all of them while the clock is not steady, at now.
func (e Events) keeper(keep func(ctx context.Context, before time.Time, maxBytes uint64) error) func(ctx context.Context, now time.Time, steady bool) error {
	age, quota := e.MaxAge, e.QuotaMiB
	if age == 0 {
		age = eventAge
	}
	if quota == 0 {
		quota = eventQuotaMiB
	}
	return func(ctx context.Context, now time.Time, steady bool) error {
		var before time.Time
		if steady {
			before = now.Add(-age)
		}
		return keep(ctx, before, uint64(quota)<<20)
	}
}
