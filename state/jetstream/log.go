package jetstream

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// maxRead bounds the records of one Read, and so its memory.
const maxRead = 10_000

// Log is a state.Log on one stream. All methods are safe for concurrent use.
type Log struct {
	st *stream
}

var _ state.Log = (*Log)(nil)

// OpenLog creates the stream of the log or opens it. Errors: as OpenKV.
func OpenLog(ctx context.Context, cfg Config) (*Log, error) {
	const op = "open log"
	cfg, err := cfg.withDefaults(op)
	if err != nil {
		return nil, err
	}
	st, err := openStream(ctx, op, cfg, jetstream.StreamConfig{
		Description: "Rackboot log",
		Duplicates:  duplicateWindow,
	})
	if err != nil {
		return nil, err
	}
	return &Log{st: st}, nil
}

// Append stores one record. An id seen in the last five minutes stores nothing
// and returns the sequence of the first.
func (l *Log) Append(ctx context.Context, subject string, data []byte, id string) (uint64, error) {
	const op = "log append"
	if err := state.CheckKey(op, subject); err != nil {
		return 0, err
	}
	msg := &nats.Msg{Subject: l.st.prefix + subject, Data: data}
	if id == "" {
		return l.st.publish(ctx, op, msg)
	}
	return l.st.insist(ctx, op, subject, func(ctx context.Context, _ bool) (uint64, error) { // the server knows the id
		return l.st.publishOnce(ctx, op, msg, jetstream.WithMsgID(id))
	})
}

// AppendAfter expects last to be the newest of the subject. A write without an answer is sent again, and stored once.
func (l *Log) AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (uint64, error) {
	const op = "log append"
	if err := state.CheckKey(op, subject); err != nil {
		return 0, err
	}
	return l.st.replace(ctx, op, &nats.Msg{Subject: l.st.prefix + subject, Data: data}, last)
}

// Read returns records in sequence order, up to the newest that was there when it was called; limit is
// 1 to 10,000. Where the beginning is cut off meanwhile, what the server says of how many are to come is too much.
func (l *Log) Read(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	const op = "log read"
	if err := checkRead(op, subject, limit); err != nil {
		return nil, err
	}
	filter := subject
	if filter == "" {
		filter = ">"
	}
	newest, err := l.st.newestOf(ctx, op, filter)
	if err != nil || newest < from {
		return nil, err
	}
	var out []state.Record
	err = l.st.drain(ctx, op, start{
		policy: jetstream.DeliverByStartSequencePolicy, sequence: max(from, 1), subjects: []string{l.st.prefix + filter},
	}, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
		if !l.st.ours(m.Subject()) {
			out = append(out, state.Record{
				Seq:     meta.Sequence.Stream,
				Subject: m.Subject()[len(l.st.prefix):],
				Data:    m.Data(),
				At:      meta.Timestamp,
			})
		}
		// What the copy that it reads from counts as pending is not all, where that lags behind.
		return len(out) < limit && meta.Sequence.Stream < newest && (meta.NumPending > 0 || l.st.cfg.Replicas > 1)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func checkRead(op, subject string, limit int) error {
	if limit < 1 || limit > maxRead {
		return protocol.Errorf(protocol.CodeInvalid, op, "limit %d; it is 1 to %d", limit, maxRead)
	}
	if subject == "" {
		return nil
	}
	return state.CheckKey(op, subject)
}

// Tail looks for where to begin by asking how many records there are from some Seq on, some 20
// times in a long log; subject may not be empty, limit is 1 to 10,000.
func (l *Log) Tail(ctx context.Context, subject string, limit int) ([]state.Record, error) {
	const op = "log tail"
	if err := checkRead(op, subject, limit); err != nil {
		return nil, err
	}
	newest, err := l.st.newestOf(ctx, op, subject)
	if err != nil || newest == 0 {
		return nil, err
	}
	// From enough on there are as many as are wanted, or all; from tooFew on there are fewer.
	enough, tooFew := uint64(1), newest+1
	for tooFew-enough > 1 {
		middle := enough + (tooFew-enough)/2
		n, err := l.st.from(ctx, op, subject, middle)
		if err != nil {
			return nil, err
		}
		if n >= uint64(limit) {
			enough = middle
		} else {
			tooFew = middle
		}
	}
	return l.Read(ctx, subject, enough, limit)
}

// Cut says first what goes, so that it is not taken for a loss. What was said so before goes with it.
func (l *Log) Cut(ctx context.Context, subject string, upTo uint64) error {
	const op = "log cut"
	if err := state.CheckKey(op, subject); err != nil {
		return err
	}
	p, err := l.st.settle(ctx, op)
	if err != nil {
		return err
	}
	newest, err := l.st.newestOf(ctx, op, subject)
	if err != nil || newest == 0 {
		return err
	}
	what := []going{{Key: subject, Revision: min(upTo, newest-1)}, {Key: purgedLevel, Revision: p.seq}}
	for i, g := range what {
		if what[i].Messages, err = l.st.upTo(ctx, op, g.Key, g.Revision); err != nil {
			return err
		}
	}
	if what[0].Messages == 0 {
		return nil
	}
	return ignoreRace(l.st.remove(ctx, op, p, what))
}

// Size counts what the server keeps with each record.
func (l *Log) Size(ctx context.Context) (uint64, error) {
	info, err := ask(ctx, l.st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return l.st.s.Info(ctx) })
	if err != nil {
		return 0, readError("log size", l.st.cfg.Name, err)
	}
	return info.State.Bytes, nil
}
