package link

import (
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// slot is a nonce that was given to one session of an agent, and what the agent had
// acknowledged before.
type slot struct {
	session, nonce string
	acked          map[string]protocol.Head
	head           message.StoreHead // that the hub knew
	turn, era      uint64            // when it was given
}

// is says whether a message is of the slot. One that names no session, which an
// Applied does not, is known by its nonce.
func (s slot) is(session, nonce string) bool {
	return nonce != "" && s.nonce == nonce && (session == "" || s.session == session)
}

// nonces are those that were given to the sessions of an agent.
type nonces struct {
	now slot // the session whose messages count
	// asked were given, and have not come back yet, one for a session, the newest last.
	asked []slot
	// answered is the nonce of the announcement that a Hello answered: each proves
	// one Hello to be new.
	answered string
	// turn counts the words after which what an agent said before proves less: that it is in
	// guard mode. A nonce that was given in an earlier turn may be in a message of before.
	turn uint64
	// era counts the sessions that took over from another. A nonce of an earlier one may be in a
	// message of before that.
	era uint64
}

// proof is how far a Hello proves that it is not an old one which somebody plays
// back, or which was late on its way.
type proof string

const (
	// proofNone: any Hello of the past.
	proofNone proof = "none"
	// proofFresh: said since the hub announced itself, or since the last session.
	proofFresh proof = "fresh"
	// proofSure: said after the nonce of its session was given. What was
	// acknowledged before that and is gone, is gone from the agent's disk.
	proofSure proof = "sure"
)

// proof says how far a Hello proves that it is new, and which nonce it has.
func (n *nonces) proof(m message.Hello, announced string) (proof, slot) {
	switch {
	case n.now.is(m.Session, m.Nonce):
		return proofSure, n.now
	case n.given(m.Session, m.Nonce) >= 0:
		return proofSure, n.asked[n.given(m.Session, m.Nonce)]
	case m.Nonce != "" && m.Session != n.now.session && m.Nonce == n.now.nonce, m.Nonce != "" && m.Nonce == announced && n.answered != announced:
		return proofFresh, slot{}
	}
	return proofNone, slot{}
}

// given finds the slot of a message among those that were asked; -1 without one. What was given before
// another session took over is none.
func (n *nonces) given(session, nonce string) int {
	return slices.IndexFunc(n.asked, func(s slot) bool { return s.is(session, nonce) && s.era == n.era })
}

// begin makes a session the present one, unless it is.
func (n *nonces) begin(session string, acked map[string]protocol.Head, head message.StoreHead, nonce string) {
	if n.now.session != session || n.now.nonce == "" {
		n.now, n.asked = slot{session, nonce, maps.Clone(acked), head, n.turn, n.era}, nil
	}
}

// maxAsked bounds the sessions of an agent that are asked for a Hello at once.
const maxAsked = 4

// give returns the nonce of a session. acked is what the agent has acknowledged, and head how far its
// store has come; a nonce that was given before some of that proves less.
func (n *nonces) give(session string, acked map[string]protocol.Head, head message.StoreHead, fresh func() string) string {
	i := slices.IndexFunc(n.asked, func(s slot) bool { return s.session == session })
	if i >= 0 {
		if s := n.asked[i]; s.turn == n.turn && s.era == n.era && maps.Equal(s.acked, acked) && s.head.Store == head.Store && s.head.Sequence == head.Sequence {
			return s.nonce
		}
		n.asked = slices.Delete(n.asked, i, i+1)
	}
	s := slot{session, fresh(), maps.Clone(acked), head, n.turn, n.era}
	n.asked = append(n.asked[max(0, len(n.asked)+1-maxAsked):], s)
	return s.nonce
}

// take makes a session that was asked the present one. keep says that messages of the one before go on
// to count.
func (n *nonces) take(i int, keep bool) {
	before := n.now
	n.now = n.asked[i]
	n.asked = slices.Delete(n.asked, i, i+1)
	if keep && before.nonce != "" && before.session != n.now.session && !slices.ContainsFunc(n.asked, func(s slot) bool { return s.session == before.session }) {
		n.asked = append(n.asked[max(0, len(n.asked)+1-maxAsked):], before)
	}
}

// of is the nonce that a session has; empty if it has none.
func (n *nonces) of(session string) string {
	if session == n.now.session {
		return n.now.nonce
	}
	if i := slices.IndexFunc(n.asked, func(s slot) bool { return s.session == session }); i >= 0 {
		return n.asked[i].nonce
	}
	return ""
}
