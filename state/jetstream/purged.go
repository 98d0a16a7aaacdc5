package jetstream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// purgedLevel is the last level of the subject of messages that say what was removed from the
// stream. No key has this character.
const purgedLevel = "$purged"

// purgedTries bounds how often it is tried to write what is removed, while others do so too.
const purgedTries = 5

// purged is what was removed from a stream on purpose: its newest message below [purgedLevel].
// It is written before anything is removed. So a reader who finds something gone finds here that
// it may have missed a deletion, and what was lost is told from what was removed, wherever
// whoever removes it dies.
type purged struct {
	// Floor is the highest revision that was removed with its key. Who has not seen everything up
	// to there lists again.
	Floor uint64 `json:"floor"`
	// Messages and Keys count what is gone, of what is going nothing.
	Messages uint64 `json:"messages"`
	Keys     uint64 `json:"keys"`
	// Going is being removed.
	Going []going `json:"going,omitempty"`

	seq uint64 // of the message; 0 without one
}

// going are the messages of one subject up to a revision.
type going struct {
	Key      string `json:"key"`
	Revision uint64 `json:"revision"`
	Messages uint64 `json:"messages"` // that there were
	// Whole says that nothing of the key remains, and that its last message, a deletion, goes
	// last: so no older revision is ever the newest.
	Whole bool `json:"whole,omitempty"`
}

// readPurged reads through the stream's leader.
func (st *stream) readPurged(ctx context.Context, op string) (p purged, err error) {
	m, err := ask(ctx, st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return st.s.GetLastMsgForSubject(ctx, st.prefix+purgedLevel)
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return p, nil
	}
	if err != nil {
		return p, readError(op, st.cfg.Name, err)
	}
	p, err = parsePurged(op, st.cfg.Name, m.Data)
	p.seq = m.Sequence
	return p, err
}

func parsePurged(op, stream string, data []byte) (p purged, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, protocol.Errorf(protocol.CodeInternal, op, "%s: what was removed cannot be read: %w", stream, err)
	}
	return p, nil
}

// writePurged writes p in the place of the one that it was made of. It is a conflict if
// another one was written meanwhile.
func (st *stream) writePurged(ctx context.Context, op string, p purged) (purged, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return p, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	p.seq, err = st.publish(ctx, op, &nats.Msg{Subject: st.prefix + purgedLevel, Data: raw}, jetstream.WithExpectLastSequencePerSubject(p.seq))
	return p, err
}

// settled is p when all that is going is gone.
func (p purged) settled() purged {
	for _, g := range p.Going {
		p.Messages += g.Messages
		if g.Whole {
			p.Keys++
		}
	}
	p.Going = nil
	return p
}

// settle removes what is going, which may have been said by somebody who died since, and says
// that it is gone.
func (st *stream) settle(ctx context.Context, op string) (purged, error) {
	for try := 1; ; try++ {
		p, err := st.readPurged(ctx, op)
		if err != nil || len(p.Going) == 0 {
			return p, err
		}
		if err := st.purge(ctx, op, p.Going); err != nil {
			return p, err
		}
		p, err = st.writePurged(ctx, op, p.settled())
		if !errors.Is(err, state.ErrConflict) || try == purgedTries {
			return p, err
		}
	}
}

// remove says that something goes, and removes it. p has nothing that is going.
func (st *stream) remove(ctx context.Context, op string, p purged, what []going) error {
	for _, g := range what {
		if g.Whole {
			p.Floor = max(p.Floor, g.Revision)
		}
	}
	p.Going = what
	if _, err := st.writePurged(ctx, op, p); err != nil {
		return err
	}
	st.cfg.Crash.At("purge.said")
	_, err := st.settle(ctx, op)
	st.cfg.Crash.At("purge.settled")
	return err
}

// purge removes the messages. It may be done again: what was written since is newer. The server's
// purge of a subject that reaches into several blocks may remove the file of the last one before it has
// written down what it removed from the first, so that after a crash an older revision would be the
// newest; therefore a deletion goes by itself, after what is older is gone.
func (st *stream) purge(ctx context.Context, op string, what []going) error {
	for _, g := range what {
		ends := []uint64{g.Revision + 1}
		if g.Whole && g.Messages > 1 {
			ends = []uint64{g.Revision, g.Revision + 1}
		}
		for _, end := range ends {
			if err := st.purgeTo(ctx, op, g.Key, end); err != nil {
				return err
			}
			st.cfg.Crash.At("purge.step")
		}
	}
	return nil
}

func (st *stream) purgeTo(ctx context.Context, op, key string, end uint64) error {
	_, err := ask(ctx, st, func(ctx context.Context) (none struct{}, err error) { // a second time finds nothing
		return none, st.s.Purge(ctx, jetstream.WithPurgeSubject(st.prefix+key), jetstream.WithPurgeSequence(end))
	})
	if err != nil {
		return mapError(op, key, err)
	}
	return nil
}

// upTo counts the messages of a key up to a revision.
func (st *stream) upTo(ctx context.Context, op, key string, revision uint64) (uint64, error) {
	all, err := st.count(ctx, op, key)
	if err != nil || all == 0 {
		return 0, err
	}
	newest, err := st.newestOf(ctx, op, key)
	if err != nil || newest <= revision {
		return all, err
	}
	after, err := st.from(ctx, op, key, revision+1)
	return all - min(all, after), err
}

// from counts the messages of a key from a revision on.
func (st *stream) from(ctx context.Context, op, key string, revision uint64) (uint64, error) {
	c, err := ask(ctx, st, func(ctx context.Context) (jetstream.Consumer, error) {
		return st.s.CreateConsumer(ctx, start{policy: jetstream.DeliverByStartSequencePolicy, sequence: revision, subjects: []string{st.prefix + key}}.config())
	})
	if err != nil {
		return 0, readError(op, key, err)
	}
	info := c.CachedInfo()
	_, err = ask(ctx, st, func(ctx context.Context) (none struct{}, err error) { return none, st.s.DeleteConsumer(ctx, info.Name) })
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // which a first try has deleted
		return 0, readError(op, key, err)
	}
	return info.NumPending, nil
}

// count counts the messages of a key.
func (st *stream) count(ctx context.Context, op, key string) (uint64, error) {
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return st.s.Info(ctx, jetstream.WithSubjectFilter(st.prefix+key))
	})
	if err != nil {
		return 0, readError(op, key, err)
	}
	return info.State.Subjects[st.prefix+key], nil
}

// newestOf is the sequence of a key's newest message; 0 if there is none, and that of the stream's if there are some
// and the newest cannot be read.
func (st *stream) newestOf(ctx context.Context, op, key string) (uint64, error) {
	m, err := ask(ctx, st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return st.s.GetLastMsgForSubject(ctx, st.prefix+key)
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
			return st.s.Info(ctx, jetstream.WithSubjectFilter(st.prefix+key))
		})
		if err != nil {
			return 0, readError(op, key, err)
		}
		if len(info.State.Subjects) == 0 {
			return 0, nil
		}
		return info.State.LastSeq, nil
	}
	if err != nil {
		return 0, readError(op, key, err)
	}
	return m.Sequence, nil
}

// errMissed says of a reader at a revision that it may have missed a deletion.
func errMissed(op string, at, floor uint64) error {
	return protocol.Errorf(protocol.CodeConflict, op, "deletions up to revision %d are not kept any more, and the reader is at %d: %w", floor, at, state.ErrConflict).
		WithHint("list again and watch from the revision that the list returns")
}
