package jetstream

import (
	"bytes"
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// A deletion is an empty message with this header. An empty value has none.
const (
	opHeader = "Rackboot-Op"
	opDelete = "delete"
)

// KV is a state.KV on one stream. All methods are safe for concurrent use.
type KV struct {
	st *stream
	// commits has room for the commits that are under way.
	commits chan struct{}
}

var _ state.KV = (*KV)(nil)

// OpenKV creates the stream of the KV or opens it; replicas and history of an
// existing one are changed to those of cfg, and it is given atomic batches. Errors: invalid,
// conflict (the stream is somebody else's), unsupported (a newer schema, or a server without
// atomic batches), unavailable, timeout.
func OpenKV(ctx context.Context, cfg Config) (*KV, error) {
	const op = "open kv"
	cfg, err := cfg.withDefaults(op)
	if err != nil {
		return nil, err
	}
	st, err := openStream(ctx, op, cfg, jetstream.StreamConfig{
		Description:        "Rackboot key-value store",
		MaxMsgsPerSubject:  int64(cfg.History),
		AllowAtomicPublish: true,
	})
	if err != nil {
		return nil, err
	}
	if !st.s.CachedInfo().Config.AllowAtomicPublish {
		return nil, noBatches(op, cfg.Name)
	}
	return &KV{st: st, commits: make(chan struct{}, maxCommits)}, nil
}

// Get reads through the stream's leader, so it sees every acknowledged write.
func (k *KV) Get(ctx context.Context, key string) (state.Entry, error) {
	const op = "kv get"
	if err := state.CheckKey(op, key); err != nil {
		return state.Entry{}, err
	}
	e, err := k.last(ctx, op, key)
	if err != nil {
		return state.Entry{}, err
	}
	if e.Deleted {
		return state.Entry{}, mapError(op, key, jetstream.ErrMsgNotFound)
	}
	return e, nil
}

// Buried asks for one revision of the key after the other: the server has no question for the one
// before the newest.
func (k *KV) Buried(ctx context.Context, key string) (state.Entry, error) {
	const op = "kv buried"
	if err := state.CheckKey(op, key); err != nil {
		return state.Entry{}, err
	}
	end, err := k.last(ctx, op, key)
	if err != nil {
		return state.Entry{}, err
	}
	var was state.Entry
	for seq := uint64(1); end.Deleted && seq < end.Revision; seq = was.Revision + 1 {
		m, err := ask(ctx, k.st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return k.st.s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(k.st.prefix+key))
		})
		if err != nil {
			return state.Entry{}, readError(op, key, err)
		}
		if m.Sequence >= end.Revision {
			break
		}
		was = k.entry(m.Subject, m.Header, m.Data, m.Sequence)
	}
	if was.Revision == 0 || was.Deleted {
		return state.Entry{}, mapError(op, key, jetstream.ErrMsgNotFound)
	}
	return was, nil
}

// last is the newest entry of key, which may be a deletion.
func (k *KV) last(ctx context.Context, op, key string) (state.Entry, error) {
	m, err := ask(ctx, k.st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return k.st.s.GetLastMsgForSubject(ctx, k.st.prefix+key)
	})
	if err != nil {
		return state.Entry{}, readError(op, key, err)
	}
	return k.entry(m.Subject, m.Header, m.Data, m.Sequence), nil
}

func (k *KV) entry(subject string, h nats.Header, data []byte, seq uint64) state.Entry {
	return state.Entry{
		Key:      subject[len(k.st.prefix):],
		Value:    bytes.Clone(data), // which has the message's header before it, and who keeps an entry keeps that
		Revision: seq,
		Deleted:  h.Get(opHeader) == opDelete,
	}
}

// createTries bounds how often a creation is sent.
const createTries = 4

// Create writes key if it does not exist or was deleted.
func (k *KV) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	const op = "kv create"
	if err := state.CheckKey(op, key); err != nil {
		return 0, err
	}
	var expected uint64
	for try := 1; ; try++ {
		rev, err := k.put(ctx, op, key, value, expected)
		if !errors.Is(err, state.ErrConflict) || try == createTries {
			return rev, err
		}
		// The subject had messages: the key exists, or its newest is a deletion, or that was removed
		// just now. Or somebody else's write of it is under way.
		e, lastErr := k.last(ctx, op, key)
		switch {
		case lastErr != nil && !errors.Is(lastErr, state.ErrNotFound):
			return 0, lastErr
		case lastErr == nil && !e.Deleted:
			return 0, protocol.Errorf(protocol.CodeConflict, op, "key %q exists: %w", key, state.ErrConflict)
		}
		expected = e.Revision
		k.st.at("create")
	}
}

// Update writes key if revision is its current one.
func (k *KV) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	const op = "kv update"
	if err := state.CheckKey(op, key); err != nil {
		return 0, err
	}
	if revision == 0 {
		// JetStream reads zero as "no message yet", which would create the key.
		return 0, protocol.Errorf(protocol.CodeConflict, op, "%s: revision 0 is never current: %w", key, state.ErrConflict)
	}
	return k.put(ctx, op, key, value, revision)
}

func (k *KV) put(ctx context.Context, op, key string, value []byte, revision uint64) (uint64, error) {
	return k.st.replace(ctx, op, &nats.Msg{Subject: k.st.prefix + key, Data: value}, revision)
}

// Delete writes a deletion if revision is the current one of key.
func (k *KV) Delete(ctx context.Context, key string, revision uint64) error {
	const op = "kv delete"
	if err := state.CheckKey(op, key); err != nil {
		return err
	}
	if revision == 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "%s: revision 0 is never current: %w", key, state.ErrConflict)
	}
	_, err := k.st.replace(ctx, op, k.deletion(key), revision)
	return err
}

func (k *KV) deletion(key string) *nats.Msg {
	msg := nats.NewMsg(k.st.prefix + key)
	msg.Header.Set(opHeader, opDelete)
	return msg
}
