package link

import (
	"bytes"
	"cmp"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// headWord is how what an agent says of its store stands to what the hub was told of it.
type headWord string

const (
	headNothing headWord = "nothing" // nothing is said, nothing is known, or it is of another store
	headOnward  headWord = "onward"  // it has all of that, or more
	headBehind  headWord = "behind"  // it has less, or something else: it is an older copy
)

// headRule compares them. The first row that fits decides.
//
//	known | sequence | digest | word
//	no    | *        | *      | nothing
//	yes   | lower    | *      | behind
//	yes   | same     | other  | behind
//	yes   | *        | *      | onward
//
// known is that the hub was told of this very store. What it was told last is a lower bound: an agent
// has changed its store since. A copy of after that is not known by it.
func headRule(known bool, sequence int, same bool) headWord {
	switch {
	case !known:
		return headNothing
	case sequence < 0, sequence == 0 && !same:
		return headBehind
	}
	return headOnward
}

func wordOfHead(known, said message.StoreHead) headWord {
	return headRule(said.Store != "" && said.Store == known.Store, cmp.Compare(said.Sequence, known.Sequence), bytes.Equal(said.Digest, known.Digest))
}

// newest is the further of two heads of the store with an incarnation; zero if neither is its.
func newest(incarnation string, heads ...message.StoreHead) (out message.StoreHead) {
	for _, h := range heads {
		if h.Store == incarnation && h.Store != "" && h.Sequence >= out.Sequence {
			out = h
		}
	}
	return out
}

// keepsHead has a ledger that is written anyway keep a head.
func keepsHead(l *store.Ledger, said message.StoreHead) {
	l.Peer.Head = newest(l.Peer.Incarnation, l.Peer.Head, said)
}

// reverted is what is known of a disk that was rolled back, until the agent is met with another or comes
// with its own.
type reverted struct {
	since time.Time
	why   string
}

// condition is nil where nothing is known of a disk that was rolled back.
func (r reverted) condition() *resource.ConditionState {
	if r.since.IsZero() {
		return nil
	}
	return &resource.ConditionState{Code: resource.CondAgentRolledBack, Since: r.since, Message: r.why}
}
