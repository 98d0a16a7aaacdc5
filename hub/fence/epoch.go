package fence

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// epochKey is where the epoch of this store's documents is kept.
const epochKey = "epoch"

// restoredJump is added to the number of a store that was restored from a copy: far
// more than a hub starts between a copy and the loss of what was copied.
const restoredJump = 1 << 20

// Epoch is that of the documents of a store; 0 of one that no hub was started on.
func Epoch(meta *store.Meta) (uint64, error) {
	n, _, err := meta.Number(epochKey)
	return n, err
}

// readEpoch reads the epoch; a new store begins at 1, whoever of two hubs says so.
func readEpoch(ctx context.Context, meta *store.Meta) (uint64, error) {
	for try := 1; ; try++ {
		n, _, err := meta.Number(epochKey)
		if err != nil || n > 0 {
			return n, err
		}
		err = meta.PutNumber(ctx, epochKey, 1, 0)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == tries {
			return 1, err
		}
	}
}

// RaiseEpoch makes every document of the store newer than all that were sent from
// it before, and the next hub on it newer than those that ran on it. It is for a
// store that was restored from a copy, or has lost something that somebody has given up, while no hub runs on it: agents refuse what is
// older than what they have. Requests that wait are ended as unknown, because the
// lost hub may have had their outcome.
//
// known is the epoch that the lost store is known to have had, where this one has lost that too; 0 is not known.
func RaiseEpoch(ctx context.Context, s *store.Store, known uint64) (uint64, error) {
	n, revision, err := s.Meta.Number(epochKey)
	if err != nil {
		return 0, err
	}
	n = max(n, known, 1)
	for _, q := range s.Requests.Open() {
		q.Report.Outcome, q.Report.Reason = resource.OutcomeUnknown, "the hub was restored from a copy"
		if err := s.Requests.Put(ctx, q); err != nil {
			return 0, err
		}
	}
	number, _, err := s.Meta.Number(numberKey)
	if err != nil {
		return 0, err
	}
	// A store of the epoch n was restored n-1 times, and its numbers are above as many jumps.
	if err := keep(ctx, s.Meta, max(number, (n-1)*restoredJump)+restoredJump); err != nil {
		return 0, err
	}
	n++
	return n, s.Meta.PutNumber(ctx, epochKey, n, revision)
}
