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

// resetAttempts bounds how often a reader tries to begin again after it lost
// its consumer (a leader changed, the connection broke), with 1, 2, 4 and 8
// seconds between.
const resetAttempts = 5

// reader is an ordered consumer: one that notices a lost message and fetches
// again from there.
type reader struct {
	st *stream
	c  jetstream.Consumer
	it jetstream.MessagesContext
	// empty says that there was nothing to deliver at the start.
	empty bool
}

func (st *stream) read(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig) (*reader, error) {
	cfg.MaxResetAttempts = resetAttempts
	c, err := st.s.OrderedConsumer(ctx, cfg)
	if err != nil {
		return nil, mapError(op, st.cfg.Name, err)
	}
	it, err := c.Messages(jetstream.PullMaxMessages(fetchAhead))
	if err != nil {
		return nil, mapError(op, st.cfg.Name, err)
	}
	return &reader{st: st, c: c, it: it, empty: c.CachedInfo().NumPending == 0}, nil
}

// next waits for the next message until ctx ends.
func (r *reader) next(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	msg, err := r.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, nil, mapError(op, r.st.cfg.Name, err)
	}
	meta, err := msg.Metadata()
	if err != nil {
		return nil, nil, mapError(op, r.st.cfg.Name, err)
	}
	return msg, meta, nil
}

// close takes the consumer off the server. If that fails, the server does it
// after five minutes without a request.
func (r *reader) close(ctx context.Context) {
	r.it.Stop()
	ctx, cancel := r.st.deadline(context.WithoutCancel(ctx))
	defer cancel()
	if err := r.st.s.DeleteConsumer(ctx, r.c.CachedInfo().Name); err != nil {
		r.st.cfg.Logger.Debug("consumer left to time out", "stream", r.st.cfg.Name, "err", err)
	}
}

// drain delivers what the stream holds now, in sequence order, until fn
// returns false or the end is reached.
func (st *stream) drain(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	r, err := st.read(ctx, op, cfg)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	if r.empty {
		return nil
	}
	for {
		msg, meta, err := r.next(ctx, op)
		if err != nil {
			return err
		}
		if !fn(msg, meta) || meta.NumPending == 0 {
			return nil
		}
	}
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
