package jetstream

import (
	"context"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/state"
)

// fetchAhead is how many messages a reader may have in flight. It bounds the
// memory of a reader that does not keep up.
const fetchAhead = 256

// drain delivers what the stream holds now, in sequence order, until fn
// returns false or the end is reached. An ordered consumer is used because it
// notices a lost message and fetches again.
func (st *stream) drain(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	cfg.InactiveThreshold = 2 * st.cfg.Timeout
	c, err := st.s.OrderedConsumer(ctx, cfg)
	if err != nil {
		return mapError(op, st.cfg.Name, err)
	}
	if info := c.CachedInfo(); info != nil && info.NumPending == 0 {
		return st.deleteConsumer(ctx, op, info.Name)
	}
	it, err := c.Messages(jetstream.PullMaxMessages(fetchAhead))
	if err != nil {
		return mapError(op, st.cfg.Name, err)
	}
	defer it.Stop()
	for {
		msg, err := it.Next(jetstream.NextContext(ctx))
		if err != nil {
			return mapError(op, st.cfg.Name, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return mapError(op, st.cfg.Name, err)
		}
		if !fn(msg, meta) || meta.NumPending == 0 {
			return nil
		}
	}
}

func (st *stream) deleteConsumer(ctx context.Context, op, name string) error {
	if err := st.s.DeleteConsumer(ctx, name); err != nil {
		return mapError(op, st.cfg.Name, err)
	}
	return nil
}

// List reads the newest message of each key below prefix. Writes that happen
// meanwhile may be in it; the revision returned is such that a Watch after it
// misses nothing.
func (k *KV) List(ctx context.Context, prefix string) ([]state.Entry, uint64, error) {
	const op = "kv list"
	if err := checkPrefix(op, prefix); err != nil {
		return nil, 0, err
	}
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	// Read before the snapshot is taken: all of it is at or after this revision.
	rev, err := k.st.lastSeq(ctx, op)
	if err != nil {
		return nil, 0, err
	}
	live := map[string]state.Entry{}
	err = k.st.drain(ctx, op, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{k.st.prefix + prefix + ">"},
		DeliverPolicy:  jetstream.DeliverLastPerSubjectPolicy,
	}, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
		e := k.entry(m.Subject(), m.Headers(), m.Data(), meta.Sequence.Stream)
		rev = max(rev, e.Revision)
		if e.Deleted {
			delete(live, e.Key)
		} else {
			live[e.Key] = e
		}
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	out := make([]state.Entry, 0, len(live))
	for _, e := range live {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b state.Entry) int { return strings.Compare(a.Key, b.Key) })
	return out, rev, nil
}
