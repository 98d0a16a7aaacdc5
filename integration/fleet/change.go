package fleet

import (
	"context"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Holds places and releases holds over a time, each at another rack than the one before, and says how long each of
// their steps took.
func (f *Fleet) Holds(ctx context.Context, n int, over time.Duration) (steps map[string]Percent, failed []error) {
	good, failed := f.holds(ctx, n, over)
	return came(good), failed
}

// changeWithin bounds a change.
const changeWithin = time.Minute

// Change changes a rack, each time another one, and says how long after it was asked for the rack's agent had it.
func (f *Fleet) Change(ctx context.Context) (time.Duration, error) {
	f.changes++
	racks := f.powered()
	if len(racks) == 0 {
		return 0, errDark
	}
	rack := racks[f.changes%len(racks)]
	settle := 5*time.Second + time.Duration(f.changes)*time.Millisecond
	f.shared.laid.watch()
	ctx, cancel := context.WithTimeout(ctx, changeWithin)
	defer cancel()
	o := &resource.Rack{Spec: resource.RackSpec{Description: "no rack: rackboot-sim fleet", SettleWindow: protocol.Duration(settle)}}
	o.Metadata.Name = rack
	o.Default()
	begun := time.Now()
	if _, err := f.cfg.Hub.Client.Objects.Apply(ctx, []resource.Object{o}, false); err != nil {
		return 0, err
	}
	for {
		if at, came := f.shared.laid.take(settling(rack, settle)); came {
			return at.Sub(begun), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the change of %s did not come to its agent: %w", rack, context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}
