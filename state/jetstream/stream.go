package jetstream

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// schemaVersion is the version of the stream layout described in doc.go.
const schemaVersion = 2

const metaSchema = "rackboot_schema"

const (
	defaultTimeout  = 5 * time.Second
	defaultHistory  = 16
	maxHistory      = 64
	duplicateWindow = 2 * time.Minute // as the contract promises: the server keeps each id so long in memory
)

// Config says where a KV or a Log lives.
type Config struct {
	// Conn is an open connection; the store does not close it.
	Conn *nats.Conn
	// Name is the stream's name, and in lower case the first level of its
	// subjects: [A-Za-z0-9_-]+.
	Name string
	// Domain is the JetStream domain of the server; empty is the one that the connection is in.
	Domain string
	// Replicas is the number of copies in a cluster, 1 to 5; 0 is 1.
	Replicas int
	// History is how many revisions of each key a KV keeps for watchers that
	// lag, 2 to 64; 0 is 16. A Log ignores it.
	History int
	// MaxBytes bounds a Bucket on each server that has a replica, which sets so much aside; 0 is no bound. A KV and a Log
	// ignore it: they need room while there is any.
	MaxBytes int64
	// Timeout bounds each call to the server, and how long a reader of much waits for the next
	// of it; 0 is 5 seconds.
	Timeout time.Duration
	// Elsewhere is called when calls have no answer and another server may have one, as while the connection's is cut off from the
	// others: it may have the connection go there. It must not wait. Nil is nothing.
	Elsewhere func()
	// Logger receives a warning when a Watch ends early; nil discards.
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

func (c Config) withDefaults(op string) (Config, error) {
	if c.Conn == nil {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "no NATS connection is given")
	}
	if strings.ContainsAny(c.Name, ".=") || state.CheckKey(op, c.Name) != nil {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "stream name %q is not of the form [A-Za-z0-9_-]+", c.Name)
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.Replicas < 1 || c.Replicas > 5 {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "%d replicas; JetStream takes 1 to 5", c.Replicas)
	}
	if c.History == 0 {
		c.History = defaultHistory
	}
	// One would let a write remove what a List is about to read.
	if c.History < 2 || c.History > maxHistory {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "history of %d revisions per key; it is 2 to %d", c.History, maxHistory)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// stream is what KV and Log share: one stream and the subjects below it.
type stream struct {
	cfg    Config
	js     jetstream.JetStream
	s      jetstream.Stream
	prefix string // of every subject, with the dot
	// between is called where somebody else may write between two steps; nil in production.
	between func(step string)
}

// at is between two steps.
func (st *stream) at(step string) {
	if st.between != nil {
		st.between(step)
	}
}

func openStream(ctx context.Context, op string, cfg Config, sc jetstream.StreamConfig) (*stream, error) {
	js, err := cfg.api()
	if err != nil {
		return nil, mapError(op, cfg.Name, err)
	}
	st := &stream{cfg: cfg, js: js, prefix: strings.ToLower(cfg.Name) + "."}
	sc.Name = cfg.Name
	sc.Subjects = []string{st.prefix + ">"}
	sc.Storage = jetstream.FileStorage
	sc.Retention = jetstream.LimitsPolicy
	sc.Discard = jetstream.DiscardNew
	sc.Replicas = cfg.Replicas
	sc.DenyDelete = true
	sc.Metadata = map[string]string{metaSchema: strconv.Itoa(schemaVersion)}
	st.s, err = ask(ctx, st, func(ctx context.Context) (jetstream.Stream, error) {
		if err := st.checkSchema(ctx, op); err != nil {
			return nil, err
		}
		s, err := js.CreateOrUpdateStream(ctx, sc)
		if err != nil {
			return nil, mapError(op, cfg.Name, err)
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// api is how the server is asked.
func (c Config) api() (jetstream.JetStream, error) {
	if c.Domain != "" {
		return jetstream.NewWithDomain(c.Conn, c.Domain, jetstream.WithDefaultTimeout(c.Timeout))
	}
	return jetstream.New(c.Conn, jetstream.WithDefaultTimeout(c.Timeout))
}

// checkSchema refuses a stream of the same name that is not ours or is newer.
func (st *stream) checkSchema(ctx context.Context, op string) error {
	old, err := st.js.Stream(ctx, st.cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return mapError(op, st.cfg.Name, err)
	}
	v, ok := old.CachedInfo().Config.Metadata[metaSchema]
	if !ok {
		return protocol.Errorf(protocol.CodeConflict, op, "stream %q exists and was not made by Rackboot", st.cfg.Name).
			WithHint("give the hub a NATS account of its own, or another stream name")
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return protocol.Errorf(protocol.CodeInternal, op, "stream %q has schema version %q", st.cfg.Name, v)
	}
	if n < schemaVersion { // no release has written one, and a server does not allow purges that it was told to deny
		return protocol.Errorf(protocol.CodeUnsupported, op, "stream %q has schema version %d; this release knows %d only", st.cfg.Name, n, schemaVersion).
			WithHint("begin in an empty folder")
	}
	if n > schemaVersion {
		return protocol.Errorf(protocol.CodeUnsupported, op, "stream %q has schema version %d; this release knows up to %d", st.cfg.Name, n, schemaVersion).
			WithHint("start the release that wrote it, or a newer one")
	}
	return nil
}

func (st *stream) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, st.cfg.Timeout)
}

// lostAfter is how long a call waits for its answer before it is made again: what a server got as it ended is never
// answered.
const lostAfter = 2 * time.Second

// ask asks the server something that changes nothing, or not twice, again while no answer comes, as long as one call may take.
func ask[T any](ctx context.Context, st *stream, question func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := st.deadline(ctx)
	defer cancel()
	for begun := time.Now(); ; {
		try, stop := context.WithTimeout(ctx, lostAfter)
		answer, err := question(try)
		stop()
		if err == nil || !unanswered(err) || ctx.Err() != nil {
			return answer, err
		}
		st.at("unanswered")
		if st.cfg.Elsewhere != nil && astray(time.Since(begun), func() bool { return useless(ctx, st) }) {
			st.cfg.Elsewhere()
		}
		select {
		case <-time.After(againPause):
		case <-ctx.Done():
			return answer, err
		}
	}
}

// lastSeq asks the server for the sequence of the stream's newest message.
func (st *stream) lastSeq(ctx context.Context, op string) (uint64, error) {
	info, err := st.s.Info(ctx)
	if err != nil {
		return 0, readError(op, st.cfg.Name, err)
	}
	return info.State.LastSeq, nil
}

// newestSeq is lastSeq, as long as one call to the server may take.
func (st *stream) newestSeq(ctx context.Context, op string) (uint64, error) {
	return ask(ctx, st, func(ctx context.Context) (uint64, error) { return st.lastSeq(ctx, op) })
}

// publish stores one message and returns its sequence. It is sent once.
func (st *stream) publish(ctx context.Context, op string, msg *nats.Msg, opts ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := st.deadline(ctx)
	defer cancel()
	return st.publishOnce(ctx, op, msg, opts...)
}

// publishOnce is publish until ctx ends.
func (st *stream) publishOnce(ctx context.Context, op string, msg *nats.Msg, opts ...jetstream.PublishOpt) (uint64, error) {
	ack, err := st.js.PublishMsg(ctx, msg, append(opts, jetstream.WithExpectStream(st.cfg.Name))...)
	if err != nil {
		return 0, mapError(op, msg.Subject[len(st.prefix):], err)
	}
	return ack.Sequence, nil
}
