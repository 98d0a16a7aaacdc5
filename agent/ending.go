package agent

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// End takes the hub's sealed word that this agent's term is over, and keeps it: from
// then on nothing is served, and no BMC is written to or read. Holds stay on disk as
// they are. Errors: denied for a word that is not the hub's or not about this agent.
func (a *Agent) End(sealed []byte) error {
	const op = "end the term"
	var m message.EndOfTerm
	if err := wire.Open(a.hub.Load().verifier, wire.FactEndOfTerm, sealed, &m); err != nil {
		return err
	}
	in, err := a.store.Applied()
	if err != nil {
		return err
	}
	if !decide.EndedBy(m, a.cfg.Agent, in.Term) {
		return protocol.Errorf(protocol.CodeDenied, op, "the word is about agent %s, term %d, %s", m.Agent, m.Term, m.Code)
	}
	news, err := a.store.End(m)
	if err != nil {
		return a.storeTrouble(err)
	}
	a.over.Store(&m)
	if !news {
		return nil
	}
	a.log.Error("the hub has ended the term of this agent", "code", m.Code, "at", m.At)
	if err := a.reindex(); err != nil {
		return a.storeTrouble(err)
	}
	a.reports.Raise(m.Code, endedWhen(m))
	a.loops.LookAtAll()
	a.reports.PokeAll()
	return nil
}

// Over says whether the hub has ended the agent's term.
func (a *Agent) Over() bool { return a.over.Load() != nil }

func endedWhen(m message.EndOfTerm) string {
	return fmt.Sprintf("term %d ended at %s", m.Term, m.At.UTC().Format(time.RFC3339))
}

// rest is a server's turn once the term is over: the way to its BMC is closed.
func (s *server) rest() time.Time {
	s.bmc.close(s)
	if err := s.tell(); err != nil {
		return s.stuck(err)
	}
	return s.agent.cfg.Clock().Add(time.Hour)
}

// acting refuses what people ask of an agent whose term is over.
func (a *Agent) acting(op string) error {
	if !a.Over() {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the term of this agent is over; it orders nothing any more").
		WithHint("ask the rack's present agent, or the hub; rackboot-agent status says why")
}
