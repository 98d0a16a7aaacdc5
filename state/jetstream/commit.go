package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// Headers of an atomic batch (NATS ADR-50), which stay on the stored messages.
const (
	batchHeader       = "Nats-Batch-Id"
	batchSeqHeader    = "Nats-Batch-Sequence" // from 1
	batchCommitHeader = "Nats-Batch-Commit"   // "1" on the last message
	expectHeader      = "Nats-Expected-Last-Subject-Sequence"
	expectOfHeader    = "Nats-Expected-Last-Subject-Sequence-Subject"
)

const (
	// checkLevel is the last level of the subject of messages that carry the expectation of a
	// check. No key has this character.
	checkLevel = "$check"
	// checksHeader says of each message of a batch with how many checks the batch begins: they go
	// when newer checks come, and are not missed.
	checksHeader = "Rackboot-Checks"
)

const (
	// maxCommits bounds the commits of this process that are under way: a server has room for 50
	// open batches of a stream, and refuses more.
	maxCommits = 16
	// commitTries bounds how often a commit that was refused is sent again: because a key to be
	// created had been deleted, or because another write of a key was under way.
	commitTries = 4
)

// Commit sends the ops as one atomic batch. An expectation of a key that is not written rides
// on a message of its own, since each message has one expectation and is stored.
func (k *KV) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	const op = "kv commit"
	if err := state.CheckOps(op, ops); err != nil {
		return nil, err
	}
	if len(ops) == 1 {
		return k.single(ctx, ops[0])
	}
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	select {
	case k.commits <- struct{}{}:
		defer func() { <-k.commits }()
	case <-ctx.Done():
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "%d other commits are under way: %w", maxCommits, ctx.Err()).
			WithHint("nothing was written; try again")
	}
	expected := make([]uint64, len(ops))
	for i, o := range ops {
		expected[i] = o.Revision
	}
	var before sent
	for try := 1; ; try++ {
		revisions, err := k.batch(ctx, op, ops, expected, &before)
		if !errors.Is(err, state.ErrConflict) {
			return revisions, err
		}
		stale, readErr := k.stale(ctx, op, ops, expected)
		k.st.at("commit")
		switch {
		case readErr != nil:
			return nil, readErr
		case len(stale) > 0 || try == commitTries:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "%w", &state.ConflictError{Keys: stale})
		}
	}
}

// single is a commit of one op.
func (k *KV) single(ctx context.Context, o state.Op) ([]uint64, error) {
	var revision uint64
	var err error
	switch o.Kind {
	case state.OpCreate:
		revision, err = k.Create(ctx, o.Key, o.Value)
	case state.OpUpdate:
		revision, err = k.put(ctx, "kv update", o.Key, o.Value, o.Revision)
	default:
		revision, err = k.st.replace(ctx, "kv delete", k.deletion(o.Key), o.Revision)
	}
	if errors.Is(err, state.ErrConflict) {
		return nil, protocol.Errorf(protocol.CodeConflict, "kv commit", "%w", &state.ConflictError{Keys: []string{o.Key}})
	}
	if err != nil {
		return nil, err
	}
	return []uint64{revision}, nil
}

// batch sends the ops, again while no answer comes: checks first, then the writes in their order. All but the last are
// not answered; the last one's answer is that of all, and a lost message is a gap that refuses
// everything.
func (k *KV) batch(ctx context.Context, op string, ops []state.Op, expected []uint64, before *sent) ([]uint64, error) {
	msgs := make([]*nats.Msg, 0, len(ops))
	for i, o := range ops {
		if o.Kind == state.OpCheck {
			m := nats.NewMsg(k.st.prefix + checkLevel)
			m.Header.Set(expectOfHeader, k.st.prefix+o.Key)
			m.Header.Set(expectHeader, strconv.FormatUint(expected[i], 10))
			msgs = append(msgs, m)
		}
	}
	checks := len(msgs)
	revisions := make([]uint64, len(ops)) // for now the place in the batch, from 1
	for i, o := range ops {
		var m *nats.Msg
		switch o.Kind {
		case state.OpCheck:
			continue
		case state.OpDelete:
			m = k.deletion(o.Key)
		default:
			m = nats.NewMsg(k.st.prefix + o.Key)
			m.Data = o.Value
		}
		m.Header.Set(expectHeader, strconv.FormatUint(expected[i], 10))
		msgs = append(msgs, m)
		revisions[i] = uint64(len(msgs))
	}
	what := batchName(k.st.prefix, msgs)
	at, err := k.st.insist(ctx, op, what, func(ctx context.Context, lost bool) (uint64, error) {
		id := rand.Text()
		before.ids = append(before.ids, id)
		at, err := k.send(ctx, op, id, msgs, checks)
		if !lost || !errors.Is(err, state.ErrConflict) {
			return at, err
		}
		at, readErr := before.find(ctx, k, op, ops, expected, len(msgs))
		if at > 0 || readErr != nil {
			return at, readErr
		}
		return 0, err
	})
	if err != nil {
		return nil, err
	}
	for i, o := range ops {
		if o.Kind != state.OpCheck {
			revisions[i] += at - uint64(len(msgs))
		}
	}
	return revisions, nil
}

// batchName says for people which keys a batch has.
func batchName(prefix string, msgs []*nats.Msg) string {
	return msgs[0].Subject[len(prefix):] + " and " + strconv.Itoa(len(msgs)-1) + " more"
}

// send makes a batch of messages and returns the sequence of the last.
func (k *KV) send(ctx context.Context, op, id string, msgs []*nats.Msg, checks int) (uint64, error) {
	nc, last := k.st.cfg.Conn, len(msgs)-1
	what := batchName(k.st.prefix, msgs)
	msgs[last].Header.Set(batchCommitHeader, "1")
	for i, m := range msgs {
		m.Header.Set(batchHeader, id)
		m.Header.Set(batchSeqHeader, strconv.Itoa(i+1))
		if checks > 0 {
			m.Header.Set(checksHeader, strconv.Itoa(checks))
		}
		if int64(m.Size()) > nc.MaxPayload() { // before a batch is open that nobody ends
			return 0, mapError(op, m.Subject[len(k.st.prefix):], nats.ErrMaxPayload)
		}
	}
	if err := ctx.Err(); err != nil { // nothing is sent that nobody ends
		return 0, mapError(op, what, err)
	}
	for _, m := range msgs[:last] {
		if err := nc.PublishMsg(m); err != nil {
			return 0, mapError(op, what, err)
		}
	}
	answer, err := nc.RequestMsgWithContext(ctx, msgs[last])
	if err != nil {
		return 0, mapError(op, what, err)
	}
	seq, err := readAnswer(answer.Data, id, len(msgs))
	if err != nil {
		return 0, mapError(op, what, err)
	}
	return seq, nil
}

// readAnswer is the sequence of a batch's last message.
func readAnswer(data []byte, id string, count int) (uint64, error) {
	var a struct {
		Error *jetstream.APIError `json:"error"`
		Seq   uint64              `json:"seq"`
		Batch string              `json:"batch"`
		Count int                 `json:"count"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return 0, errors.Join(errAnswer, err)
	}
	if a.Error != nil {
		return 0, a.Error
	}
	if a.Batch != id || a.Count != count || a.Seq < uint64(count) {
		return 0, errAnswer
	}
	return a.Seq, nil
}

// stale reads back what a refused commit expected, since the server does not say which key it
// was. A revision only grows, so that what it does not find was a write that is still under
// way. Where a key that shall not be there was deleted, the deletion is expected from now on, or
// nothing, once that was removed.
func (k *KV) stale(ctx context.Context, op string, ops []state.Op, expected []uint64) (keys []string, err error) {
	for i, o := range ops {
		e, err := k.last(ctx, op, o.Key)
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return nil, err
		}
		switch {
		case o.Revision == 0 && (e.Deleted || e.Revision == 0):
			expected[i] = e.Revision
		case o.Revision != e.Revision:
			keys = append(keys, o.Key)
		}
	}
	return keys, nil
}
