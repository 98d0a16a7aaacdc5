package heads

// Standing is how a checkpoint stands to one that was kept of before.
type Standing string

// The standings.
const (
	Onward   Standing = "onward"   // it goes on from there
	Replaced Standing = "replaced" // an operator put another store in its place: what was kept is over
	Behind   Standing = "behind"   // it has less: the store was rolled back, or has lost something
	Foreign  Standing = "foreign"  // it is of another store, and nobody said that it replaces it
)

// compareRule says how a store's checkpoint stands to the one that was kept of it. The first row that fits
// decides.
//
//	store | epoch | less | standing
//	same  | lower | *    | behind
//	same  | *     | yes  | behind
//	same  | *     | *    | onward
//	other | above | *    | replaced
//	other | *     | *    | foreign
//
// Each restore makes a new store id, and raises the epoch.
func compareRule(same bool, epoch int, less bool) Standing {
	switch {
	case same && (epoch < 0 || less):
		return Behind
	case same:
		return Onward
	case epoch > 0:
		return Replaced
	}
	return Foreign
}

// Compare says how now stands to kept, of an earlier moment.
func Compare(kept, now Checkpoint) Standing {
	epoch := 0
	switch {
	case now.Epoch < kept.Epoch:
		epoch = -1
	case now.Epoch > kept.Epoch:
		epoch = 1
	}
	less := now.Sequence < kept.Sequence || now.Audit.Seq < kept.Audit.Seq
	for name, was := range kept.Streams {
		less = less || !now.Streams[name].Covers(was)
	}
	// At the same sequence, with the same audit entry, they are the same in everything.
	if now.Sequence == kept.Sequence && now.Epoch == kept.Epoch {
		less = less || now.Audit.Seq == kept.Audit.Seq && now.Audit.Hash != kept.Audit.Hash
	}
	return compareRule(now.Store == kept.Store, epoch, less)
}
