package jetstream

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// fetchAhead is how many messages a reader may have in flight. It bounds the
// memory of a reader that does not keep up.
const fetchAhead = 256

// heartbeat is how often the server says that there is nothing, as often as it may. A reader begins again when it
// misses two: in a cluster the first request may come before the consumer hears it, and a server that was started anew
// knows no consumer.
const heartbeat = 500 * time.Millisecond

// listMoment is how long a list waits for a message before it looks for another reason than a slow server. It is
// longer than two heartbeats, or the library's count of missed ones, which begins with each wait, would never end.
const listMoment = 3 * heartbeat

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

func (st *stream) read(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig, ahead int) (*reader, error) {
	cfg.MaxResetAttempts = resetAttempts
	c, err := st.s.OrderedConsumer(ctx, cfg)
	if err != nil {
		return nil, readError(op, st.cfg.Name, err)
	}
	it, err := c.Messages(jetstream.PullMaxMessages(ahead), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return nil, readError(op, st.cfg.Name, err)
	}
	return &reader{st: st, c: c, it: it, empty: c.CachedInfo().NumPending == 0}, nil
}

// begin is read, asked again while the server does not answer.
func (st *stream) begin(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig) (*reader, error) {
	return st.beginAhead(ctx, op, cfg, fetchAhead)
}

// beginAhead is begin with so many messages in flight.
func (st *stream) beginAhead(ctx context.Context, op string, cfg jetstream.OrderedConsumerConfig, ahead int) (*reader, error) {
	return ask(ctx, st, func(ctx context.Context) (*reader, error) { return st.read(ctx, op, cfg, ahead) })
}

// next waits for the next message, as long as one call to the server may take.
func (r *reader) next(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	ctx, cancel := r.st.deadline(ctx)
	defer cancel()
	return r.wait(ctx, op)
}

// wait waits for the next message until ctx ends.
func (r *reader) wait(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	msg, err := r.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, nil, readError(op, r.st.cfg.Name, err)
	}
	meta, err := msg.Metadata()
	if err != nil {
		return nil, nil, readError(op, r.st.cfg.Name, err)
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
	r, err := st.begin(ctx, op, cfg)
	if err != nil {
		return err
	}
	return r.drain(ctx, op, fn)
}

// drain delivers what is there until fn returns false or the end is reached, and closes the reader.
func (r *reader) drain(ctx context.Context, op string, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	defer r.close(ctx)
	if r.empty {
		return nil
	}
	for {
		msg, meta, err := r.next(ctx, op)
		if err != nil {
			return err
		}
		if !fn(msg, meta) {
			return nil
		}
	}
}

// List reads the newest message of each key until it has what the stream's leader had at the
// beginning: the copy that it reads from may lag behind. Writes that happen meanwhile may be in
// it, whole commits of them: it does not end within one. Large stores take their time: an error
// is that nothing came for as long as a call may take.
//
// A deletion that was removed between the beginning and the end is not seen, though its key was. So
// whoever removes some says so first, and a list that sees that begins again.
func (k *KV) List(ctx context.Context, prefix string) ([]state.Entry, uint64, error) {
	const op = "kv list"
	if err := state.CheckPrefix(op, prefix); err != nil {
		return nil, 0, err
	}
	for range listTries {
		if entries, rev, err := k.list(ctx, op, prefix); !errors.Is(err, errRemoved) {
			return entries, rev, err
		}
	}
	return nil, 0, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", k.st.cfg.Name, errRemoved).WithHint("try again")
}

// listTries bounds how often a list is begun again.
const listTries = 5

// errRemoved is that a list cannot know what was deleted while it was read.
var errRemoved = errors.New("deletions were removed while it was read")

func (k *KV) list(ctx context.Context, op, prefix string) ([]state.Entry, uint64, error) {
	rev, err := k.st.newestSeq(ctx, op)
	if err != nil || rev == 0 {
		return nil, 0, err
	}
	live := map[string]state.Entry{}
	var at uint64
	var floors []uint64
	r, err := k.st.begin(ctx, op, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy})
	if err != nil {
		return nil, 0, err
	}
	defer r.close(ctx)
	for ended := r.empty && k.st.cfg.Replicas == 1; !ended; { // where all was lost, nothing comes
		msg, meta, err := k.listed(ctx, op, r, rev)
		if err != nil {
			return nil, 0, err
		}
		k.st.at("list")
		m := k.message(msg, meta)
		at = m.seq
		if m.isEntry && strings.HasPrefix(m.entry.Key, prefix) {
			if m.entry.Deleted {
				delete(live, m.entry.Key)
			} else {
				live[m.entry.Key] = m.entry
			}
		}
		if msg.Subject() == k.st.prefix+purgedLevel {
			p, err := parsePurged(op, k.st.cfg.Name, msg.Data())
			if err != nil {
				return nil, 0, err
			}
			if floors = append(floors, p.Floor); p.Floor > floors[0] {
				return nil, 0, errRemoved
			}
		}
		if ended, err = k.ends(ctx, op, m, rev); err != nil {
			return nil, 0, err
		}
	}
	out := slices.SortedFunc(maps.Values(live), func(a, b state.Entry) int { return strings.Compare(a.Key, b.Key) })
	return out, max(at, rev), nil
}

// listed is next for a list that began at rev. Where the server finds that what it was to deliver is gone, it waits for
// something new, each time (getNextMsg of consumer.go, of a last message per subject); so after a
// moment without a message it is asked whether something was removed meanwhile.
func (k *KV) listed(ctx context.Context, op string, r *reader, rev uint64) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	for {
		moment, stop := context.WithTimeout(ctx, listMoment)
		msg, meta, err := r.wait(moment, op)
		stop()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return msg, meta, err
		}
		p, err := k.st.readPurged(ctx, op)
		if err != nil {
			return nil, nil, err
		}
		if p.seq > rev || len(p.Going) > 0 {
			return nil, nil, errRemoved
		}
	}
}

// ends reports whether a list has everything with this message.
func (k *KV) ends(ctx context.Context, op string, m message, rev uint64) (bool, error) {
	one := k.st.cfg.Replicas == 1
	switch {
	case m.pending > 0:
		return false, nil
	case !m.within():
		// A single copy that is behind its own last sequence has lost what is missing.
		return m.seq >= rev || one, nil
	case !one:
		return false, nil
	}
	// The rest of the batch is being written, and this waits until it is; or it never comes.
	_, err := ask(ctx, k.st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return k.st.s.GetMsg(ctx, m.seq+1) })
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		k.st.cfg.Logger.Error("the last commit in the store is there in part", "stream", k.st.cfg.Name, "revision", m.seq,
			"hint", "the NATS server has lost data, or reached its storage limit within the commit")
		return true, nil
	}
	if err != nil {
		return false, readError(op, k.st.cfg.Name, err)
	}
	return false, nil
}
