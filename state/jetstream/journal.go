package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// Journal is one stream with the records of several writers, a subject for each. A writer says with each record which
// one of its own it follows, so that of two programs that write under one name one is refused. All methods are safe for
// concurrent use.
type Journal struct {
	st *stream
}

// OpenJournal creates the stream of the journal or opens it. The limit of its bytes is the operator's: a stream that has
// one keeps it. Errors: as OpenKV.
func OpenJournal(ctx context.Context, cfg Config) (*Journal, error) {
	const op = "open journal"
	cfg, err := cfg.withDefaults(op)
	if err != nil {
		return nil, err
	}
	js, err := cfg.api()
	if err != nil {
		return nil, mapError(op, cfg.Name, err)
	}
	limit, err := ask(ctx, &stream{cfg: cfg}, func(ctx context.Context) (int64, error) {
		old, err := js.Stream(ctx, cfg.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return -1, nil
		}
		if err != nil {
			return 0, readError(op, cfg.Name, err)
		}
		return old.CachedInfo().Config.MaxBytes, nil
	})
	if err != nil {
		return nil, err
	}
	st, err := openStream(ctx, op, cfg, jetstream.StreamConfig{Description: "Rackboot journal", MaxBytes: limit})
	if err != nil {
		return nil, err
	}
	return &Journal{st}, nil
}

// Append stores a record of a writer after the one of a sequence, its last one; 0 is that it has none. Errors: conflict
// if another is its last one; invalid, unavailable, timeout.
func (j *Journal) Append(ctx context.Context, writer string, data []byte, after uint64) (uint64, error) {
	const op = "journal append"
	if err := checkWriter(op, writer); err != nil {
		return 0, err
	}
	return j.st.replace(ctx, op, &nats.Msg{Subject: j.st.prefix + writer, Data: data}, after)
}

// Last is the last record of a writer. Errors: not_found, unavailable, timeout.
func (j *Journal) Last(ctx context.Context, writer string) (state.Record, error) {
	return j.get(ctx, "journal last", writer, func(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
		return j.st.s.GetLastMsgForSubject(ctx, subject)
	})
}

// Next is the first record of a writer from a sequence on. Errors: not_found, unavailable, timeout.
func (j *Journal) Next(ctx context.Context, writer string, from uint64) (state.Record, error) {
	return j.get(ctx, "journal next", writer, func(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
		return j.st.s.GetMsg(ctx, max(from, 1), jetstream.WithGetMsgSubject(subject))
	})
}

func (j *Journal) get(ctx context.Context, op, writer string, question func(context.Context, string) (*jetstream.RawStreamMsg, error)) (state.Record, error) {
	if err := checkWriter(op, writer); err != nil {
		return state.Record{}, err
	}
	m, err := ask(ctx, j.st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return question(ctx, j.st.prefix+writer) })
	if err != nil {
		return state.Record{}, readError(op, writer, err)
	}
	return state.Record{Seq: m.Sequence, Subject: writer, Data: m.Data, At: m.Time}, nil
}

// Read returns records of a writer in sequence order, as [Log.Read] does.
func (j *Journal) Read(ctx context.Context, writer string, from uint64, limit int) ([]state.Record, error) {
	if err := checkWriter("journal read", writer); err != nil {
		return nil, err
	}
	return (&Log{j.st}).Read(ctx, writer, from, limit)
}

// Writers are those that have records, in order.
func (j *Journal) Writers(ctx context.Context) ([]string, error) {
	info, err := ask(ctx, j.st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return j.st.s.Info(ctx, jetstream.WithSubjectFilter(j.st.prefix+">"))
	})
	if err != nil {
		return nil, readError("journal writers", j.st.cfg.Name, err)
	}
	var out []string
	for subject := range info.State.Subjects {
		if writer := subject[len(j.st.prefix):]; checkWriter("", writer) == nil {
			out = append(out, writer)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Newest is the sequence of the newest record of all writers; 0 before the first.
func (j *Journal) Newest(ctx context.Context) (uint64, error) {
	return j.st.newestSeq(ctx, "journal newest")
}

// Size counts what the server keeps, in bytes.
func (j *Journal) Size(ctx context.Context) (uint64, error) { return (&Log{j.st}).Size(ctx) }

func checkWriter(op, writer string) error {
	if strings.ContainsAny(writer, ".$=") || state.CheckKey(op, writer) != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is no name of a writer: use A-Z, a-z, 0-9, _ and -", writer)
	}
	return nil
}
