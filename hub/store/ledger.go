package store

import (
	"context"
	"encoding/json"
	"maps"

	"rackboot/protocol"
)

// Ledgers keeps what each agent was sent and has acknowledged.
type Ledgers struct {
	core    *core
	decoded *decoded
}

// Get returns an agent's ledger; an empty one with revision 0 if there is
// none yet. The maps are the caller's; bodies and capabilities are for reading
// only. The code is internal if it cannot be read.
func (ls *Ledgers) Get(agent string) (Ledger, error) {
	l, err := ls.Peek(agent)
	if err != nil {
		return Ledger{}, err
	}
	out := *l
	out.Sent, out.Acked = maps.Clone(l.Sent), maps.Clone(l.Acked)
	return out, nil
}

// Peek is Ledger without a copy, for reading only. It is decoded once for
// each revision.
func (ls *Ledgers) Peek(agent string) (*Ledger, error) {
	key := BesideLedger + "." + agent
	for last := uint64(0); ; {
		e, ok := ls.core.mirror.get(key)
		if !ok {
			return &Ledger{Agent: agent, Sent: map[string]SentDoc{}, Acked: map[string]protocol.Head{}}, nil
		}
		if l := ls.decoded.get(agent, e.Revision); l != nil {
			return l, nil
		}
		if e.Value == nil && e.Revision != last { // a newer one was decoded meanwhile, which is in the mirror by now
			last = e.Revision
			continue
		}
		l, err := decodeLedger(agent, e)
		if err != nil {
			return nil, err
		}
		ls.decoded.put(agent, l)
		ls.core.mirror.bare(key, e.Revision)
		return l, nil
	}
}

func decodeLedger(agent string, e cached) (*Ledger, error) {
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
	return l, nil
}

// Put writes a ledger, compare-and-set on its revision, which it updates.
// The codes are invalid, conflict, unavailable and timeout.
func (ls *Ledgers) Put(ctx context.Context, l *Ledger) error {
	const op = "put ledger"
	if !validToken(l.Agent) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not an agent id", l.Agent)
	}
	value, err := json.Marshal(l)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := ls.core.put(ctx, BesideLedger+"."+l.Agent, value, l.Revision)
	if err != nil {
		return stateError(op, err)
	}
	l.Revision = revision
	return nil
}
