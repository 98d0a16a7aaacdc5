package store

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
)

// Ledger is what the hub sent to one agent and what the agent acknowledged, by
// document ("hold", "rack/0").
type Ledger struct {
	Agent string                   `json:"agent"`
	Sent  map[string]SentDoc       `json:"sent"`
	Acked map[string]protocol.Head `json:"acked"`
	// Version is the highest that any document was given. It never falls, so that a
	// document that went and comes back is newer than what the agent has of it.
	Version  uint64 `json:"version,omitempty"`
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// SentDoc is one document as it was sent.
type SentDoc struct {
	Head   protocol.Head `json:"head"`
	Body   []byte        `json:"body"` // signed, as it goes out
	Digest string        `json:"digest"`
}

// Ledger returns an agent's ledger; an empty one with revision 0 if there is
// none yet. The code is internal if it cannot be read.
func (s *Store) Ledger(agent string) (Ledger, error) {
	l := Ledger{Agent: agent}
	if e, ok := s.mirror.get("ledger." + agent); ok {
		if err := json.Unmarshal(e.Value, &l); err != nil {
			return Ledger{}, protocol.Errorf(protocol.CodeInternal, "read ledger", "of agent %q: %w", agent, err)
		}
		l.Revision = e.Revision
	}
	if l.Sent == nil {
		l.Sent = map[string]SentDoc{}
	}
	if l.Acked == nil {
		l.Acked = map[string]protocol.Head{}
	}
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
