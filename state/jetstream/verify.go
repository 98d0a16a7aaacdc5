package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Verified is what reading all of a stream has found.
type Verified struct {
	Messages uint64 // that the server says there are
	Read     uint64 // that it could read
	Gaps     []Gap  // where it could not
}

// Gap is a run of sequences of which some cannot be read.
type Gap struct{ From, To uint64 }

// Verify reads every message of the KV, also old revisions. Errors: unavailable, timeout.
func (k *KV) Verify(ctx context.Context) (Verified, error) { return k.st.verify(ctx) }

// Verify reads every record of the Log. Errors: as of a KV.
func (l *Log) Verify(ctx context.Context) (Verified, error) { return l.st.verify(ctx) }

// verify has the server compare the checksum of each message, which it does when it delivers it.
func (st *stream) verify(ctx context.Context) (v Verified, err error) {
	const op = "verify stream"
	e, err := st.numbers(ctx, op)
	if err != nil {
		return v, err
	}
	v.Messages = e.Messages
	f := start{policy: jetstream.DeliverByStartSequencePolicy, sequence: 1, subjects: []string{st.prefix + ">"}}
	for {
		at, err := st.drainOnce(ctx, op, f, func(_ jetstream.Msg, meta *jetstream.MsgMetadata) bool {
			v.Read++
			return meta.NumPending > 0
		})
		if !errors.Is(err, errStuck) {
			return v, err
		}
		from := max(at+1, f.sequence)
		if f.sequence, err = st.readable(ctx, op, from, f.subjects); err != nil {
			return v, err
		}
		switch {
		case f.sequence == 0:
			v.Gaps = append(v.Gaps, Gap{from, e.Sequence})
			return v, nil
		case f.sequence != from:
			v.Gaps = append(v.Gaps, Gap{from, f.sequence - 1})
		}
	}
}
