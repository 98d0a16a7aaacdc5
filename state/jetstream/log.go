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
	return l.st.publish(ctx, op, msg, jetstream.WithMsgID(id))
}

// Read returns records in sequence order; limit is 1 to 10,000.
func (l *Log) Read(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	const op = "log read"
	if limit < 1 || limit > maxRead {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "limit %d; it is 1 to %d", limit, maxRead)
	}
	filter := ">"
	if subject != "" {
		if err := state.CheckKey(op, subject); err != nil {
			return nil, err
		}
		filter = subject
	}
	var out []state.Record
	err := l.st.drain(ctx, op, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{l.st.prefix + filter},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    max(from, 1),
	}, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
		out = append(out, state.Record{
			Seq:     meta.Sequence.Stream,
			Subject: m.Subject()[len(l.st.prefix):],
			Data:    m.Data(),
		})
		return len(out) < limit && meta.NumPending > 0
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
