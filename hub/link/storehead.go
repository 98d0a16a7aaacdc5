package link

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"rackboot/hub/events"
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
	sequence := 0
	switch {
	case said.Sequence < known.Sequence:
		sequence = -1
	case said.Sequence > known.Sequence:
		sequence = 1
	}
	return headRule(said.Store != "" && said.Store == known.Store, sequence, bytes.Equal(said.Digest, known.Digest))
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

// headOf is the head that the hub knows of the agent's present store.
func (k *contact) headOf(l *store.Ledger) message.StoreHead {
	return newest(l.Peer.Incarnation, l.Peer.Head, k.head)
}

// give and begin are those of the nonces, with what the hub knows now.
func (k *contact) give(session string, l *store.Ledger, fresh func() string) string {
	return k.nonces.give(session, l.Acked, k.headOf(l), fresh)
}

func (k *contact) begin(session string, l *store.Ledger, nonce string) {
	k.nonces.begin(session, l.Acked, k.headOf(l), nonce)
}

// tells keeps in memory what an agent says of its store. Who calls it knows that the word is of the
// present session, or that it does no harm if it is older.
func (c *hearing) tells(agent string, said message.StoreHead) {
	if said.Store == "" {
		return
	}
	c.contacts.with(agent, func(k *contact) {
		if k.head.Store != said.Store || said.Sequence > k.head.Sequence {
			k.head = said
		}
	})
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

// reverts notes that an agent's disk was rolled back. It says so once.
func (c *hearing) reverts(ctx context.Context, agent string, known message.StoreHead, m message.Hello) {
	why := fmt.Sprintf("the disk of incarnation %s was rolled back: it lacks what the agent had acknowledged", m.Incarnation)
	if wordOfHead(known, m.StoreHead) == headBehind {
		why = fmt.Sprintf("the disk of incarnation %s was rolled back: its store is at change %d, and the hub was told of %d", m.Incarnation, m.StoreHead.Sequence, known.Sequence)
	}
	news := false
	c.contacts.with(agent, func(k *contact) {
		if news = k.reverted.since.IsZero(); news {
			k.reverted = reverted{c.cfg.Clock(), why}
		}
	})
	if news {
		c.cfg.Logger.Error("the agent's disk was rolled back", "agent", agent, "why", why)
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentRolledBack, "agent "+agent+": "+why)
	}
}

// condition is nil where nothing is known of a disk that was rolled back.
func (r reverted) condition() *resource.ConditionState {
	if r.since.IsZero() {
		return nil
	}
	return &resource.ConditionState{Code: resource.CondAgentRolledBack, Since: r.since, Message: r.why}
}
