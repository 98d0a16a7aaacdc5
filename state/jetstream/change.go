package jetstream

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/state"
)

// message is a stored message as the readers of a KV see it.
type message struct {
	seq     uint64
	pending uint64 // messages behind it when it was delivered
	entry   state.Entry
	isEntry bool // and none of our own, such as the expectation of a check

	batch  string // empty for a single write
	first  uint64 // of a batch: the sequence of its first entry
	commit bool   // of a batch: the last one
}

// within reports whether more of the same batch follows.
func (m message) within() bool { return m.batch != "" && !m.commit }

// message reads the headers. What is in none of ours, in numbers, is a single write.
func (k *KV) message(msg jetstream.Msg, meta *jetstream.MsgMetadata) message {
	h, seq := msg.Headers(), meta.Sequence.Stream
	m := message{
		seq: seq, pending: meta.NumPending,
		entry:   k.entry(msg.Subject(), h, msg.Data(), seq),
		isEntry: !k.st.ours(msg.Subject()),
	}
	place, err := strconv.ParseUint(h.Get(batchSeqHeader), 10, 32)
	if err != nil || place < 1 || place > seq {
		return m
	}
	checks, err := strconv.ParseUint(h.Get(checksHeader), 10, 32)
	if err != nil {
		checks = 0
	}
	m.batch, m.first, m.commit = h.Get(batchHeader), seq-place+1+checks, h.Get(batchCommitHeader) != ""
	return m
}

// joiner makes changes of messages: of a batch one.
//
// A stream keeps some revisions of each key only, so that of an old batch messages may be
// missing. Then others of its keys are newer by now, and what is left of it is half a commit,
// until those have come too: so everything up to where the stream is now becomes one change.
type joiner struct {
	last  uint64 // sequence of the newest message; in the beginning what the reader has
	batch string // of the newest message, if more of it follows
	until uint64 // the change goes up to here; 0 is to its own end
	held  []state.Entry
}

// add takes the next message and returns a change that is complete. now is asked for the
// sequence of the stream's newest message.
func (j *joiner) add(m message, now func() (uint64, error)) ([]state.Entry, error) {
	cut := j.batch != "" && m.batch != j.batch                          // of the one before the end is missing
	gap := m.batch != "" && m.isEntry && max(j.last+1, m.first) < m.seq // of this one the beginning, or the middle
	if cut || gap {
		until, err := now()
		if err != nil {
			return nil, err
		}
		j.until = max(j.until, until)
	}
	j.last, j.batch = m.seq, ""
	if m.within() {
		j.batch = m.batch
	}
	if m.isEntry {
		j.held = append(j.held, m.entry)
	}
	if j.batch != "" || m.seq < j.until {
		return nil, nil
	}
	change := j.held
	if j.until > 0 {
		change = newest(change)
	}
	j.held, j.until = nil, 0
	return change, nil
}

// newest keeps the last entry of each key.
func newest(entries []state.Entry) []state.Entry {
	seen := map[string]bool{}
	var out []state.Entry
	for _, e := range slices.Backward(entries) {
		if !seen[e.Key] {
			out = append(out, e)
		}
		seen[e.Key] = true
	}
	slices.Reverse(out)
	return out
}

func below(prefix string, entries []state.Entry) []state.Entry {
	return slices.DeleteFunc(entries, func(e state.Entry) bool { return !strings.HasPrefix(e.Key, prefix) })
}

// deliver returns when ctx ends or the stream cannot be read any more.
func (k *KV) deliver(ctx context.Context, op string, r *reader, prefix string, after uint64, ch chan<- []state.Entry) error {
	j := joiner{last: after}
	now := func() (uint64, error) { return k.st.newestSeq(ctx, op) }
	for {
		msg, meta, err := r.wait(ctx, op)
		if err != nil {
			return err
		}
		m := k.message(msg, meta)
		if m.seq > j.last+1 {
			// Newer revisions have come of what is missing here, unless its keys were removed.
			if err := k.kept(ctx, op, j.last); err != nil {
				return err
			}
		}
		change, err := j.add(m, now)
		if err != nil {
			return err
		}
		if change = below(prefix, change); len(change) == 0 {
			continue
		}
		select {
		case ch <- change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
