package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Ledger is what the hub sent to one agent and what the agent acknowledged, by
// document ("hold", "rack/0").
type Ledger struct {
	Agent string                   `json:"agent"`
	Sent  map[string]SentDoc       `json:"sent"`
	Acked map[string]protocol.Head `json:"acked"`
	// Version is the highest that any document was given. It never falls, so that a
	// document that went and comes back is newer than what the agent has of it.
	Version uint64 `json:"version,omitempty"`
	// Owner is the start of a hub that wrote the ledger last. All that goes to the agent
	// passes through here, so that a hub which finds a newer one sends nothing more.
	Owner message.Fence `json:"owner,omitzero"`
	// Peer is what the agent proved to be when it was last greeted.
	Peer     Peer   `json:"peer,omitzero"`
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// SentDoc is one document as it was sent.
type SentDoc struct {
	Head   protocol.Head `json:"head"`
	Body   []byte        `json:"body"`   // signed, as it goes out
	Digest string        `json:"digest"` // of the content, without head, time and fence
	Fence  uint64        `json:"fence"`  // number of the hub that sealed it
	Sealed string        `json:"sealed"` // digest of Body
}

// Peer is one database of an agent, and what the agent can do.
type Peer struct {
	Incarnation  string               `json:"incarnation,omitempty"` // empty is not known
	Protocol     int                  `json:"protocol,omitempty"`
	Version      string               `json:"version,omitempty"` // of the agent's binary
	Capabilities []message.Capability `json:"capabilities,omitempty"`
	// Approvals is what the agent wants approvals for; nil from agents that take none.
	Approvals *resource.ApprovalStance `json:"approvals,omitempty"`
}

// Can reports whether the agent can do something. One that was never greeted can nothing.
func (p Peer) Can(c message.Capability) bool { return slices.Contains(p.Capabilities, c) }

// Ledger returns an agent's ledger; an empty one with revision 0 if there is
// none yet. The maps are the caller's; bodies and capabilities are for reading
// only. The code is internal if it cannot be read.
func (s *Store) Ledger(agent string) (Ledger, error) {
	l, err := s.PeekLedger(agent)
	if err != nil {
		return Ledger{}, err
	}
	out := *l
	out.Sent, out.Acked = maps.Clone(l.Sent), maps.Clone(l.Acked)
	return out, nil
}

// PeekLedger is Ledger without a copy, for reading only. It is decoded once for
// each revision.
func (s *Store) PeekLedger(agent string) (*Ledger, error) {
	e, ok := s.mirror.get("ledger." + agent)
	if !ok {
		return &Ledger{Agent: agent, Sent: map[string]SentDoc{}, Acked: map[string]protocol.Head{}}, nil
	}
	if l := s.ledgers.get(agent, e.Revision); l != nil {
		return l, nil
	}
	l := &Ledger{Agent: agent}
	if err := json.Unmarshal(e.Value, l); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "read ledger", "of agent %q: %w", agent, err)
	}
	l.Revision = e.Revision
	if l.Sent == nil {
		l.Sent = map[string]SentDoc{}
	}
	if l.Acked == nil {
		l.Acked = map[string]protocol.Head{}
	}
	s.ledgers.put(agent, l)
	return l, nil
}

// PutLedger writes a ledger, compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutLedger(ctx context.Context, l *Ledger) error {
	const op = "put ledger"
	if !validToken(l.Agent) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not an agent id", l.Agent)
	}
	value, err := json.Marshal(l)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := s.put(ctx, "ledger."+l.Agent, value, l.Revision)
	if err != nil {
		return stateError(op, err)
	}
	l.Revision = revision
	return nil
}
