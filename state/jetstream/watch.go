package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// Watch follows the whole stream from the revision after the given one, and picks what is below
// prefix: of a batch of which it saw some messages only, it would not know that it is complete. A revision
// that the stream has not reached is a conflict: the server's data is older
// than what the caller saw (restored from a backup), so the caller must List
// again. So is one that is older than a deletion which is not kept any more. The channel is closed
// early, with a warning in the log, if the server could not be reached for some 15 seconds, or
// what comes next may have been such a deletion; the caller then lists again too.
func (k *KV) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	const op = "kv watch"
	if err := state.CheckPrefix(op, prefix); err != nil {
		return nil, err
	}
	r, err := k.follow(ctx, op, after)
	if err != nil {
		return nil, err
	}
	ch := make(chan []state.Entry)
	go func() {
		defer close(ch)
		defer r.close(ctx)
		if err := k.deliver(ctx, op, r, prefix, after, ch); ctx.Err() == nil {
			k.st.cfg.Logger.Warn("watch ended early", "stream", k.st.cfg.Name, "prefix", prefix, "err", err)
		}
	}()
	return ch, nil
}

func (k *KV) follow(ctx context.Context, op string, after uint64) (*reader, error) {
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	last, err := k.st.newestSeq(ctx, op)
	if err != nil {
		return nil, err
	}
	if after > last {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "revision %d is ahead of the store, which is at %d: %w", after, last, state.ErrConflict).
			WithHint("the store was restored from an older copy: list again and watch from the revision that the list returns")
	}
	if err := k.kept(ctx, op, after); err != nil {
		return nil, err
	}
	return k.st.begin(ctx, op, start{policy: jetstream.DeliverByStartSequencePolicy, sequence: after + 1})
}

// kept is a conflict if a deletion after a revision was removed.
func (k *KV) kept(ctx context.Context, op string, after uint64) error {
	p, err := k.st.readPurged(ctx, op)
	if err != nil {
		return err
	}
	if after < p.Floor {
		return errMissed(op, after, p.Floor)
	}
	return nil
}
