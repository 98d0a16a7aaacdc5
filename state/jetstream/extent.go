package jetstream

import "context"

// Extent is how much a stream has. Nothing is removed from a Log, and from a KV only a
// revision for which a newer one came, and the last of a key never is. So none of the
// numbers falls while what was acknowledged is there.
type Extent struct {
	Sequence uint64 `json:"sequence"` // of the newest message
	Messages uint64 `json:"messages"`
	Keys     uint64 `json:"keys"`
}

// Covers reports whether e has at least as much as other.
func (e Extent) Covers(other Extent) bool {
	return e.Sequence >= other.Sequence && e.Messages >= other.Messages && e.Keys >= other.Keys
}

// Extent says how much the KV has. Errors: unavailable, timeout.
func (kv *KV) Extent(ctx context.Context) (Extent, error) { return kv.st.extent(ctx) }

// Extent says how much the Log has. Errors: unavailable, timeout.
func (l *Log) Extent(ctx context.Context) (Extent, error) { return l.st.extent(ctx) }

func (st *stream) extent(ctx context.Context) (Extent, error) {
	ctx, cancel := st.deadline(ctx)
	defer cancel()
	info, err := st.s.Info(ctx)
	if err != nil {
		return Extent{}, readError("read extent", st.cfg.Name, err)
	}
	return Extent{Sequence: info.State.LastSeq, Messages: info.State.Msgs, Keys: info.State.NumSubjects}, nil
}
