package fence

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
	"rackboot/state/heads"
)

// numberKey is where the number of the hub that started last on this store is kept.
const numberKey = "fence"

// tries bounds how often a number is taken again after another hub on the same store took it.
const tries = 8

// Start is one start of a hub on its store. It is safe for concurrent use.
type Start struct {
	meta   *store.Meta
	clock  state.Clock
	log    *slog.Logger
	number message.Fence
	epoch  uint64
	now    func() *heads.Checkpoint // what the store has; nil is not known
	began  message.HubHead          // what it had when this start began; zero is not known
	downAt atomic.Int64             // when it stepped down, in ns; 0 if it did not
	units  Units                    // nil of a hub that is alone on its store
	late   late

	taking sync.Mutex    // a further number
	latest message.Fence // that was taken
}

// Begin makes this start of the hub the newest on its store. hub is a random name of this start.
// The codes are those of the store.
func Begin(ctx context.Context, meta *store.Meta, clock state.Clock, log *slog.Logger, hub string) (*Start, error) {
	b := &Start{meta: meta, clock: clock, log: log}
	var err error
	if meta.Lost() != nil {
		return b.watching(hub)
	}
	if b.epoch, err = readEpoch(ctx, meta); err != nil {
		return nil, err
	}
	if b.number, err = take(ctx, meta, hub); err != nil {
		return nil, err
	}
	b.latest = b.number
	return b, nil
}

// watching makes a start that takes no number, and reads what there is.
func (b *Start) watching(hub string) (*Start, error) {
	epoch, _, err := b.meta.Number(epochKey)
	if err != nil {
		return nil, err
	}
	n, _, err := b.meta.Number(numberKey)
	b.epoch, b.number = epoch, message.Fence{Number: n, Hub: hub}
	return b, err
}

func take(ctx context.Context, meta *store.Meta, hub string) (message.Fence, error) {
	for try := 1; ; try++ {
		n, revision, err := meta.Number(numberKey)
		if err != nil {
			return message.Fence{}, err
		}
		n++
		err = meta.PutNumber(ctx, numberKey, n, revision)
		if err == nil {
			return message.Fence{Number: n, Hub: hub}, nil
		}
		if protocol.CodeOf(err) != protocol.CodeConflict || try == tries {
			return message.Fence{}, err
		}
	}
}

// keep notes a number that another hub has, so that the next start takes a higher one.
func keep(ctx context.Context, meta *store.Meta, seen uint64) error {
	for try := 1; ; try++ {
		n, revision, err := meta.Number(numberKey)
		if err != nil || n >= seen {
			return err
		}
		err = meta.PutNumber(ctx, numberKey, seen, revision)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == tries {
			return err
		}
	}
}

// Fence is the number of this start.
func (b *Start) Fence() message.Fence { return b.number }

// Epoch is that of the documents of the store.
func (b *Start) Epoch() uint64 { return b.epoch }

// Yields steps down if an agent follows a newer hub. It reports whether this hub has
// stepped down, or leaves the agent to another one on its store: it makes and sends nothing then, and changes nothing.
func (b *Start) Yields(ctx context.Context, agent string, follows message.Fence) bool {
	if b.Lost() != nil {
		return true // nothing can be kept of it
	}
	switch {
	case b.units != nil && !b.yieldsShared(ctx, agent, follows):
		return !b.WorksFor(agent) || follows.Newer(b.FenceFor(agent))
	case b.units == nil && (follows.Number == 0 || !follows.Newer(b.number) && !follows.Rivals(b.number)):
		return b.SteppedDown()
	}
	if b.stepDown() {
		b.log.Error("another hub has this hub's keys and started later, or this hub's store is an old copy; this hub steps down",
			"agent", agent, "fence", b.number.Number, "other_fence", follows.Number, "other_hub", follows.Hub)
	}
	if err := keep(ctx, b.meta, follows.Number); err != nil {
		b.log.Warn("the other hub's fence was not kept", "err", err)
	}
	return true
}

// stepDown reports whether that is news.
func (b *Start) stepDown() bool { return b.downAt.CompareAndSwap(0, b.clock().UnixNano()) }

// SteppedDown reports whether this hub makes and sends nothing: another one has taken over, or its store has
// lost something.
func (b *Start) SteppedDown() bool { return b.Replaced() || b.Lost() != nil }

// Replaced reports whether another hub has taken over.
func (b *Start) Replaced() bool { return b.downAt.Load() != 0 }

// Lost is what the store has lost; nil is nothing.
func (b *Start) Lost() *heads.Loss { return b.meta.Lost() }

// SteppedDownAt is when that was.
func (b *Start) SteppedDownAt() time.Time { return time.Unix(0, b.downAt.Load()).UTC() }

// Overtaken steps down if another hub started on the same store, and reports whether this one has
// stepped down.
func (b *Start) Overtaken() bool {
	if b.units != nil {
		b.seeLate()
		return b.SteppedDown() // others take numbers too
	}
	n, _, err := b.meta.Number(numberKey)
	if err == nil && b.Lost() == nil && n > b.number.Number && b.stepDown() {
		b.log.Error("another hub started on this store; this hub steps down", "fence", b.number.Number, "other_fence", n)
	}
	return b.SteppedDown()
}

// Writable says why nothing may be changed through this hub; nil if it may. The code
// is unavailable.
func (b *Start) Writable() error {
	if l := b.Lost(); l != nil {
		return l.Err("change")
	}
	if !b.Replaced() {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, "change", "another hub with this hub's keys has taken over, or this hub's store is an old copy").
		WithHint("stop one of the two hubs, and restart this one to take over; if its store was restored from a copy, run rackboot-hub restored before")
}
