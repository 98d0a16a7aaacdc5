package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/state"
)

// Forget looks at the newest message of each key. A key that may have had more revisions than the stream keeps stays
// with its deletion: the server takes the oldest ones away without a word in the block, so that they are there again
// when it loses its index and reads the blocks, and only the deletion says that they count for nothing.
func (k *KV) Forget(ctx context.Context, before time.Time) (int, error) {
	const op = "kv forget"
	p, err := k.st.settle(ctx, op)
	if err != nil || before.IsZero() {
		return 0, err
	}
	old, err := k.deletions(ctx, op, before)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	if p.seq == 0 {
		// A list that began without any of these messages, and sees one that something was
		// removed, shall see that it saw two; see List.
		if p, err = k.st.writePurged(ctx, op, p); err != nil {
			return 0, ignoreRace(err)
		}
	}
	for i := range old {
		if old[i].Messages, err = k.st.upTo(ctx, op, old[i].Key, old[i].Revision); err != nil {
			return 0, err
		}
	}
	if err := k.st.remove(ctx, op, p, old); err != nil {
		return 0, ignoreRace(err)
	}
	return len(old), nil
}

// ignoreRace: who removes something at the same time does the same.
func ignoreRace(err error) error {
	if errors.Is(err, state.ErrConflict) {
		return nil
	}
	return err
}

// deletions are up to MaxForget keys of which the newest message is a deletion before a time,
// the oldest first.
func (k *KV) deletions(ctx context.Context, op string, before time.Time) ([]going, error) {
	info, err := ask(ctx, k.st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return k.st.s.Info(ctx, jetstream.WithSubjectFilter(k.st.prefix+">"))
	})
	if err != nil {
		return nil, readError(op, k.st.cfg.Name, err)
	}
	a := aging{before: before, stays: func(key string) bool { return info.State.Subjects[k.st.prefix+key] >= uint64(k.st.cfg.History) }}
	err = k.st.drain(ctx, op, start{policy: jetstream.DeliverLastPerSubjectPolicy, headers: true},
		func(msg jetstream.Msg, meta *jetstream.MsgMetadata) bool {
			m := k.message(msg, meta)
			a.add(m, meta.Timestamp)
			return m.pending > 0
		})
	if err != nil {
		return nil, err
	}
	return a.old(), nil
}

// aging picks deletions from messages in the order of their sequences. A deletion is as old as the
// oldest message after it, if that is older: what was written while a clock was ahead was written
// before what comes after it.
type aging struct {
	before time.Time
	upTo   uint64 // the newest message that is old enough
	found  []going
	stays  func(key string) bool
}

func (a *aging) add(m message, at time.Time) {
	if at.Before(a.before) {
		a.upTo = m.seq
	}
	if m.isEntry && m.entry.Deleted && len(a.found) < state.MaxForget && !a.stays(m.entry.Key) {
		a.found = append(a.found, going{Key: m.entry.Key, Revision: m.seq, Whole: true})
	}
}

func (a *aging) old() []going {
	i := slices.IndexFunc(a.found, func(g going) bool { return g.Revision > a.upTo })
	if i < 0 {
		return a.found
	}
	return a.found[:i]
}

// ours reports whether a subject is that of no key and no record.
func (st *stream) ours(subject string) bool { return strings.HasPrefix(subject[len(st.prefix):], "$") }

// Drop deletes keys whose newest message cannot be read, so that they can be created again. The server compares no
// sequence with one that it cannot read, and purges none: so the deletion is written whatever is there, and nobody else may
// write meanwhile. Errors: those of a write.
func (k *KV) Drop(ctx context.Context, keys []string) error {
	const op = "kv drop"
	for _, key := range keys {
		if err := state.CheckKey(op, key); err != nil {
			return err
		}
		if _, err := k.st.publish(ctx, op, k.deletion(key)); err != nil {
			return err
		}
	}
	return nil
}
