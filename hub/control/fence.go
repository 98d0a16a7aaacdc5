package control

import (
	"context"
	"encoding/binary"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// fenceKey is where the number of the hub that started last on this store is kept.
const fenceKey = "fence"

// fenceTries bounds how often a number is taken again after another hub on the same
// store took it.
const fenceTries = 8

// restoredJump is added to the number of a store that was restored from a copy: far
// more than a hub starts between a copy and the loss of what was copied.
const restoredJump = 1 << 20

// takeFence makes this start of the hub the newest on its store.
func takeFence(ctx context.Context, s *store.Store, hub string) (protocol.Fence, error) {
	for try := 1; ; try++ {
		n, revision, err := readNumber(s, fenceKey)
		if err != nil {
			return protocol.Fence{}, err
		}
		n++
		err = s.PutMeta(ctx, fenceKey, binary.BigEndian.AppendUint64(nil, n), revision)
		if err == nil {
			return protocol.Fence{Number: n, Hub: hub}, nil
		}
		if protocol.CodeOf(err) != protocol.CodeConflict || try == fenceTries {
			return protocol.Fence{}, err
		}
	}
}

// keepFence notes a number that another hub has, so that the next start takes a
// higher one.
func keepFence(ctx context.Context, s *store.Store, seen uint64) error {
	for try := 1; ; try++ {
		n, revision, err := readNumber(s, fenceKey)
		if err != nil || n >= seen {
			return err
		}
		err = s.PutMeta(ctx, fenceKey, binary.BigEndian.AppendUint64(nil, seen), revision)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == fenceTries {
			return err
		}
	}
}

// yields steps down if an agent follows another hub. It says whether this hub has
// stepped down: it makes and sends nothing any more, and changes nothing.
func (c *Control) yields(ctx context.Context, agent string, follows protocol.Fence) bool {
	if follows.Number == 0 || !follows.Newer(c.fence) && !follows.Rivals(c.fence) {
		return c.steppedDown()
	}
	if c.stepDown() {
		c.log.Error("another hub has this hub's keys and started later, or this hub's store is an old copy; this hub steps down",
			"agent", agent, "fence", c.fence.Number, "other_fence", follows.Number, "other_hub", follows.Hub)
	}
	if err := keepFence(ctx, c.cfg.Store, follows.Number); err != nil {
		c.log.Warn("the other hub's fence was not kept", "err", err)
	}
	return true
}

// stepDown says whether that is news.
func (c *Control) stepDown() bool { return c.fencedAt.CompareAndSwap(0, c.cfg.Clock().UnixNano()) }

func (c *Control) steppedDown() bool { return c.fencedAt.Load() != 0 }

// overtaken steps down if another hub started on the same store.
func (c *Control) overtaken() bool {
	n, _, err := c.readNumber(fenceKey)
	if err == nil && n > c.fence.Number && c.stepDown() {
		c.log.Error("another hub started on this store; this hub steps down", "fence", c.fence.Number, "other_fence", n)
	}
	return c.steppedDown()
}

// Writable says why nothing may be changed through this hub; nil if it may. The code
// is unavailable.
func (c *Control) Writable() error {
	if !c.steppedDown() {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, "change", "another hub with this hub's keys has taken over, or this hub's store is an old copy").
		WithHint("stop one of the two hubs, and restart this one to take over; if its store was restored from a copy, run rackboot-hub restored before")
}
