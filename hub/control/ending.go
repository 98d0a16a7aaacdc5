package control

import (
	"context"
	"encoding/json"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// ending says that an agent's term is over, why, and by whom. It is never removed: an
// agent's name is not given twice, and its certificate may be good for long.
type ending struct {
	Code   protocol.ConditionCode `json:"code"` // CondRevoked or CondSuperseded
	Term   uint64                 `json:"term"`
	At     time.Time              `json:"at"`
	By     string                 `json:"by"`
	Reason string                 `json:"reason"`
}

func endingKey(agent string) string { return "end-" + agent }

// ending reads how an agent's term ended; false while it has not. It is read from
// memory, so that a hub that starts knows it before it hears anybody.
func (c *Control) ending(agent string) (ending, bool) {
	if !protocol.ValidName(agent) {
		return ending{}, false
	}
	raw, _, err := c.cfg.Store.Meta(endingKey(agent))
	if err != nil {
		return ending{}, false
	}
	var e ending
	if err := json.Unmarshal(raw, &e); err != nil {
		// Somebody ended it; how, cannot be read.
		c.log.Error("cannot read how an agent's term ended; it counts as revoked", "agent", agent, "err", err)
		e.Code = protocol.CondRevoked
	}
	return e, true
}

// Refused says whether an agent's connections are to be refused: it was revoked. One
// that only has been replaced is let in, to be told so. It does not wait.
func (c *Control) Refused(agent string) bool {
	e, over := c.ending(agent)
	return over && e.Code == protocol.CondRevoked
}

// worse decides which ending stays. The first row that fits decides.
//
//	before     | asked      | stays
//	none       | *          | asked
//	Superseded | Revoked    | asked
//	*          | *          | before
func worse(before, asked protocol.ConditionCode) bool {
	return before == "" || before == protocol.CondSuperseded && asked == protocol.CondRevoked
}

// end writes that an agent's term is over. news is false if that is known already.
func (c *Control) end(ctx context.Context, agent string, e ending) (news bool, err error) {
	var before ending
	_, revision, err := c.cfg.Store.Meta(endingKey(agent))
	if err == nil {
		before, _ = c.ending(agent)
	} else if protocol.CodeOf(err) != protocol.CodeNotFound {
		return false, err
	}
	if !worse(before.Code, e.Code) {
		return false, nil
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return false, err
	}
	if err := c.cfg.Store.PutMeta(ctx, endingKey(agent), raw, revision); err != nil {
		return false, err
	}
	c.cfg.Crash.At("hub.ending.written")
	c.log.Warn("the term of an agent is over", "agent", agent, "code", e.Code, "by", e.By, "reason", e.Reason)
	return true, nil
}

// lastWord is the sealed EndOfTerm of an agent.
func (c *Control) lastWord(agent string, e ending) []byte {
	data, err := wire.Seal(c.cfg.Signer, wire.FactEndOfTerm, protocol.EndOfTerm{Agent: agent, Term: e.Term, Code: e.Code, At: e.At})
	if err != nil {
		c.log.Error("cannot seal", "topic", wire.FactEndOfTerm, "err", err)
		return nil
	}
	return data
}

// dismiss tells an agent that its term is over.
func (c *Control) dismiss(agent, session string, e ending) {
	m := c.word(session)
	m.Trust, m.Refused, m.Ended = "", e.Code, c.lastWord(agent, e)
	c.say(agent, m)
}
