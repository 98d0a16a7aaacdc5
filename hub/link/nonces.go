package link

import (
	"maps"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// slot is a nonce that was given to one session of an agent, and what the agent had
// acknowledged before.
type slot struct {
	session, nonce string
	acked          map[string]protocol.Head
	turn           uint64 // when it was given
}

// is says whether a message is of the slot. One that names no session, which an
// Applied does not, is known by its nonce.
func (s slot) is(session, nonce string) bool {
	return nonce != "" && s.nonce == nonce && (session == "" || s.session == session)
}

// nonces are those that were given to the sessions of an agent.
type nonces struct {
	now   slot // the session whose messages count
	asked slot // given, and not come back yet
	// answered is the nonce of the announcement that a Hello answered: each proves
	// one Hello to be new.
	answered string
	// turn counts the words after which what an agent said before proves less: that it is in
	// guard mode. A nonce that was given in an earlier turn may be in a message of before.
	turn uint64
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
	case n.asked.is(m.Session, m.Nonce):
		return proofSure, n.asked
	case m.Nonce != "" && m.Session != n.now.session && m.Nonce == n.now.nonce, m.Nonce != "" && m.Nonce == announced && n.answered != announced:
		return proofFresh, slot{}
	}
	return proofNone, slot{}
}

// begin makes a session the present one, unless it is.
func (n *nonces) begin(session string, acked map[string]protocol.Head, nonce string) {
	if n.now.session != session || n.now.nonce == "" {
		n.now, n.asked = slot{session, nonce, maps.Clone(acked), n.turn}, slot{}
	}
}

// give returns the nonce of a session. acked is what the agent has acknowledged; a
// nonce that was given before it acknowledged some of that proves less.
func (n *nonces) give(session string, acked map[string]protocol.Head, fresh func() string) string {
	if n.asked.session != session || n.asked.nonce == "" || n.asked.turn != n.turn || !maps.Equal(n.asked.acked, acked) {
		n.asked = slot{session, fresh(), maps.Clone(acked), n.turn}
	}
	return n.asked.nonce
}

// of is the nonce that a session has; empty if it has none.
func (n *nonces) of(session string) string {
	switch session {
	case n.now.session:
		return n.now.nonce
	case n.asked.session:
		return n.asked.nonce
	}
	return ""
}
