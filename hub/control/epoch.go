package control

import (
	"context"
	"encoding/binary"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// epochKey is where the epoch of this store's documents is kept.
const epochKey = "epoch"

func (c *Control) readNumber(key string) (n, revision uint64, err error) {
	return readNumber(c.cfg.Store, key)
}

// readNumber reads a number of the hub's own; 0 if it was never written.
func readNumber(s *store.Store, key string) (n, revision uint64, err error) {
	raw, revision, err := s.Meta(key)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return 0, 0, nil
	case err != nil:
		return 0, 0, err
	case len(raw) != 8:
		return 0, 0, protocol.Errorf(protocol.CodeInternal, "read "+key, "%d bytes are stored, not 8", len(raw)).
			WithHint("restore the hub's store from its backup")
	}
	return binary.BigEndian.Uint64(raw), revision, nil
}

// readEpoch reads the epoch; a new store begins at 1.
func (c *Control) readEpoch(ctx context.Context) (uint64, error) {
	n, _, err := c.readNumber(epochKey)
	if err != nil || n > 0 {
		return n, err
	}
	return 1, c.cfg.Store.PutMeta(ctx, epochKey, binary.BigEndian.AppendUint64(nil, 1), 0)
}

// RaiseEpoch makes every document of the store newer than all that were sent from
// it before, and the next hub on it newer than those that ran on it. It is for a
// store that was restored from a copy, while no hub runs on it: agents refuse what is
// older than what they have. Requests that wait are ended as unknown, because the
// lost hub may have had their outcome.
func RaiseEpoch(ctx context.Context, s *store.Store) (uint64, error) {
	n, revision, err := readNumber(s, epochKey)
	if err != nil {
		return 0, err
	}
	for _, q := range s.OpenRequests() {
		q.Report.Outcome, q.Report.Reason = protocol.OutcomeUnknown, "the hub was restored from a copy"
		if err := s.PutRequest(ctx, q); err != nil {
			return 0, err
		}
	}
	fence, _, err := readNumber(s, fenceKey)
	if err != nil {
		return 0, err
	}
	if err := keepFence(ctx, s, fence+restoredJump); err != nil {
		return 0, err
	}
	n = max(n, 1) + 1
	return n, s.PutMeta(ctx, epochKey, binary.BigEndian.AppendUint64(nil, n), revision)
}

func ended(o protocol.Outcome) bool { return o != "" && o != protocol.OutcomePending }
