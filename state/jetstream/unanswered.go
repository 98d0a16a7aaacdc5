package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// # Writes without an answer
//
// The leader of a stream may die with a write in its hands: nobody knows then whether it was stored. It is sent again,
// which stores it at most once, because each write expects the revision that it replaces: the first of the
// two that arrives makes the other one a conflict. A conflict after a write without an answer is therefore looked at:
// the message that replaced what was expected tells by its id whose it is, and where nothing has yet, the first of the
// two is still under way. Only what has no answer when the time of the call is over has an unknown outcome. Of a key that
// others wrote more often meanwhile than the history has revisions, a conflict is said.

// writeHeader has the id of a write of one key. A batch has [batchHeader].
const writeHeader = "Rackboot-Write"

// againPause is how long after an error that came at once a write is sent again: nobody leads the stream then.
const againPause = 100 * time.Millisecond

// errUnderWay is a conflict with a write that is not stored yet, where an answer was missed: it may be its own.
var errUnderWay = errors.New("another write of it is under way")

// unanswered reports whether it is unknown what became of a write, or it is known that nothing was written because
// nobody was there to do it.
func unanswered(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return slices.Contains([]jetstream.ErrorCode{errNoLeader, errBatchIncomplete, errTooManyBatches}, api.ErrorCode)
	}
	return errors.Is(err, errUnderWay) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// unknown reports whether what an unanswered write wanted may have been stored. Of the others it is known that nothing was.
func unknown(err error) bool {
	return errors.Is(err, errUnderWay) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, nats.ErrTimeout)
}

// insist writes what, again while no answer comes, as long as one call may take. lost says that what an earlier try wanted
// may have been stored, so that a conflict may be its doing. Where that is still not known at the end, it is a timeout,
// whatever the last try met.
func (st *stream) insist(ctx context.Context, op, what string, write func(ctx context.Context, lost bool) (uint64, error)) (uint64, error) {
	lost := false
	seq, err := ask(ctx, st, func(ctx context.Context) (uint64, error) {
		seq, err := write(ctx, lost)
		lost = lost || unknown(err)
		return seq, err
	})
	if err != nil && lost && !errors.Is(err, state.ErrConflict) && protocol.CodeOf(err) != protocol.CodeTimeout {
		return 0, protocol.Errorf(protocol.CodeTimeout, op, "%s: an earlier try was not answered, and whether it was written is unknown: %w", what, err).
			WithHint("read it back before you try again; if it stays so, look at the log and the disk of the hub, or of your NATS servers")
	}
	return seq, err
}

// replace writes one key whose newest revision is the expected one; 0 is that it has none.
func (st *stream) replace(ctx context.Context, op string, msg *nats.Msg, expected uint64) (uint64, error) {
	id := rand.Text()
	if msg.Header == nil {
		msg.Header = nats.Header{}
	}
	msg.Header.Set(writeHeader, id)
	return st.insist(ctx, op, msg.Subject[len(st.prefix):], func(ctx context.Context, lost bool) (uint64, error) {
		seq, err := st.publishOnce(ctx, op, msg, jetstream.WithExpectLastSequencePerSubject(expected))
		if !lost || !errors.Is(err, state.ErrConflict) {
			return seq, err
		}
		was, readErr := st.replaced(ctx, op, msg.Subject, expected)
		if readErr == nil && was.Header.Get(writeHeader) == id {
			return was.Sequence, nil
		}
		if readErr != nil {
			return 0, readErr
		}
		return 0, err
	})
}

// replaced is the message that came first after a revision of a subject; errUnderWay where none did.
func (st *stream) replaced(ctx context.Context, op, subject string, revision uint64) (*jetstream.RawStreamMsg, error) {
	m, err := st.s.GetMsg(ctx, revision+1, jetstream.WithGetMsgSubject(subject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = errUnderWay
	}
	if err != nil {
		return nil, mapError(op, subject[len(st.prefix):], err)
	}
	return m, nil
}

// sent are the batches that one commit has sent, again because no answer came.
type sent struct{ ids []string }

// find looks whether one of them was stored, and returns the sequence of its last message; 0 if somebody else has
// replaced what a key was expected to have. count is how many messages each of them has.
func (s sent) find(ctx context.Context, k *KV, op string, ops []state.Op, expected []uint64, count int) (uint64, error) {
	var none error
	others := false
	for i, o := range ops {
		m, err := k.st.replaced(ctx, op, k.st.prefix+o.Key, expected[i])
		switch {
		case errors.Is(err, errUnderWay):
			none = err
			continue
		case err != nil:
			return 0, err
		case !slices.Contains(s.ids, m.Header.Get(batchHeader)):
			others = true // of ours there may be others all the same, if this key has been removed since
			continue
		}
		place, err := strconv.ParseUint(m.Header.Get(batchSeqHeader), 10, 32)
		if err != nil || place < 1 || place > uint64(count) {
			return 0, protocol.Errorf(protocol.CodeInternal, op, "%s: a batch has a message at place %q of %d", o.Key, m.Header.Get(batchSeqHeader), count)
		}
		return m.Sequence + uint64(count) - place, nil
	}
	if others {
		return 0, nil
	}
	return 0, none
}
