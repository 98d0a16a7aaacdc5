package jetstream

import (
	"context"
	"reflect"

	"rackboot/protocol"

	"github.com/nats-io/nats.go/jetstream"
)

// Extent is how much a stream has, and what was removed from it on purpose is counted as if
// it were there. From a KV otherwise only a revision goes for which a newer one came. So none of the
// numbers falls while what was acknowledged is there.
type Extent struct {
	Sequence uint64 `json:"sequence"` // of the newest message
	Messages uint64 `json:"messages"`
	Keys     uint64 `json:"keys"`
}

// extentTries bounds how often an extent is measured while something is being removed.
const extentTries = 5

// Covers reports whether e has at least as much as other.
func (e Extent) Covers(other Extent) bool {
	return e.Sequence >= other.Sequence && e.Messages >= other.Messages && e.Keys >= other.Keys
}

// Extent says how much the KV has. Errors: unavailable, also while much is being removed; timeout.
func (k *KV) Extent(ctx context.Context) (Extent, error) { return k.st.extent(ctx) }

// Extent says how much the Log has. Errors: as of a KV.
func (l *Log) Extent(ctx context.Context) (Extent, error) { return l.st.extent(ctx) }

// extent writes nothing: it is also asked of a store that has lost something. What was removed is
// read before and after the stream's numbers, so that they belong together.
func (st *stream) extent(ctx context.Context) (Extent, error) {
	const op = "read extent"
	before, err := st.gone(ctx, op)
	for range extentTries {
		if err != nil {
			return Extent{}, err
		}
		st.at("extent")
		e, infoErr := st.numbers(ctx, op)
		if infoErr != nil {
			return Extent{}, infoErr
		}
		after, afterErr := st.gone(ctx, op)
		if afterErr == nil && reflect.DeepEqual(before, after) {
			e.Messages += before.Messages
			e.Keys += before.Keys
			return e, nil
		}
		before, err = after, afterErr
	}
	return Extent{}, protocol.Errorf(protocol.CodeUnavailable, op, "%s: too much is being removed from it", st.cfg.Name).WithHint("try again")
}

func (st *stream) numbers(ctx context.Context, op string) (Extent, error) {
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return st.s.Info(ctx) })
	if err != nil {
		return Extent{}, readError(op, st.cfg.Name, err)
	}
	return Extent{Sequence: info.State.LastSeq, Messages: info.State.Msgs, Keys: info.State.NumSubjects}, nil
}

// gone is what was removed up to now, also of what is going.
func (st *stream) gone(ctx context.Context, op string) (purged, error) {
	p, err := st.readPurged(ctx, op)
	if err != nil {
		return p, err
	}
	for _, g := range p.Going {
		left, err := st.upTo(ctx, op, g.Key, g.Revision)
		if err != nil {
			return p, err
		}
		p.Messages += g.Messages - min(left, g.Messages)
		if left == 0 && g.Whole {
			p.Keys++
		}
	}
	return p, nil
}
