package jetstream

import (
	"context"
	"reflect"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state/heads"
)

// extentTries bounds how often an extent is measured while something is being removed.
const extentTries = 5

// Extent says how much the KV has. Errors: unavailable, also while much is being removed; timeout.
func (k *KV) Extent(ctx context.Context) (heads.Extent, error) { return k.st.extent(ctx) }

// Extent says how much the Log has. Errors: as of a KV.
func (l *Log) Extent(ctx context.Context) (heads.Extent, error) { return l.st.extent(ctx) }

// extent writes nothing: it is also asked of a store that has lost something. What was removed is
// read before and after the stream's numbers, so that they belong together.
func (st *stream) extent(ctx context.Context) (heads.Extent, error) {
	const op = "read extent"
	before, err := st.gone(ctx, op)
	for range extentTries {
		if err != nil {
			return heads.Extent{}, err
		}
		st.at("extent")
		e, infoErr := st.numbers(ctx, op)
		if infoErr != nil {
			return heads.Extent{}, infoErr
		}
		after, afterErr := st.gone(ctx, op)
		if afterErr == nil && reflect.DeepEqual(before, after) {
			e.Messages += before.Messages
			e.Keys += before.Keys
			return e, nil
		}
		before, err = after, afterErr
	}
	return heads.Extent{}, protocol.Errorf(protocol.CodeUnavailable, op, "%s: too much is being removed from it", st.cfg.Name).WithHint("try again")
}

func (st *stream) numbers(ctx context.Context, op string) (heads.Extent, error) {
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return st.s.Info(ctx) })
	if err != nil {
		return heads.Extent{}, readError(op, st.cfg.Name, err)
	}
	return heads.Extent{Sequence: info.State.LastSeq, Messages: info.State.Msgs, Keys: info.State.NumSubjects}, nil
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
