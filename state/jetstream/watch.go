package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// Watch follows the stream from the revision after the given one. A revision
// that the stream has not reached is a conflict: the server's data is older
// than what the caller saw (restored from a backup), so the caller must List
// again.
func (k *KV) Watch(ctx context.Context, prefix string, after uint64) (<-chan state.Entry, error) {
	const op = "kv watch"
	if err := checkPrefix(op, prefix); err != nil {
		return nil, err
	}
	it, err := k.follow(ctx, op, prefix, after)
	if err != nil {
		return nil, err
	}
	ch := make(chan state.Entry)
	go func() {
		defer close(ch)
		defer it.Stop()
		if err := k.deliver(ctx, it, ch); err != nil && ctx.Err() == nil {
			k.st.cfg.Logger.Warn("watch ended early", "stream", k.st.cfg.Name, "prefix", prefix, "err", err)
		}
	}()
	return ch, nil
}

func (k *KV) follow(ctx context.Context, op, prefix string, after uint64) (jetstream.MessagesContext, error) {
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	last, err := k.st.lastSeq(ctx, op)
	if err != nil {
		return nil, err
	}
	if after > last {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "revision %d is ahead of the store, which is at %d: %w", after, last, state.ErrConflict).
			WithHint("the store was restored from an older copy: list again and watch from the revision that the list returns")
	}
	c, err := k.st.s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{k.st.prefix + prefix + ">"},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    after + 1,
	})
	if err != nil {
		return nil, mapError(op, prefix, err)
	}
	it, err := c.Messages(jetstream.PullMaxMessages(fetchAhead))
	if err != nil {
		return nil, mapError(op, prefix, err)
	}
	return it, nil
}

func (k *KV) deliver(ctx context.Context, it jetstream.MessagesContext, ch chan<- state.Entry) error {
	for {
		msg, err := it.Next(jetstream.NextContext(ctx))
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		e := k.entry(msg.Subject(), msg.Headers(), msg.Data(), meta.Sequence.Stream)
		select {
		case ch <- e:
		case <-ctx.Done():
			return nil
		}
	}
}
