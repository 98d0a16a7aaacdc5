package terms

import (
	"context"
	"encoding/json"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Ending says that an agent's term is over, why, and by whom. It is never removed: an
// agent's name is not given twice, and its certificate may be good for long.
type Ending struct {
	Code   resource.ConditionCode `json:"code"` // CondRevoked or CondSuperseded
	Term   uint64                 `json:"term"`
	At     time.Time              `json:"at"`
	By     string                 `json:"by"`
	Reason string                 `json:"reason"`
}

func endingKey(agent string) string { return "end-" + agent }

// EndingOf reads how an agent's term ended; false while it has not. It is read from
// memory, so that a hub that starts knows it before it hears anybody.
func (t *Terms) EndingOf(agent string) (Ending, bool) {
	if !protocol.ValidName(agent) {
		return Ending{}, false
	}
	raw, _, err := t.meta.Get(endingKey(agent))
	if err != nil {
		return Ending{}, false
	}
	var e Ending
	if err := json.Unmarshal(raw, &e); err != nil {
		// Somebody ended it; how, cannot be read.
		t.log.Error("cannot read how an agent's term ended; it counts as revoked", "agent", agent, "err", err)
		e.Code = resource.CondRevoked
	}
	return e, true
}

// Refused says whether an agent's connections are to be refused: it was revoked. One
// that only has been replaced is let in, to be told so. It does not wait.
func (t *Terms) Refused(agent string) bool {
	e, over := t.EndingOf(agent)
	return over && e.Code == resource.CondRevoked
}

// worse decides which ending stays. The first row that fits decides.
//
//	before     | asked      | stays
//	none       | *          | asked
//	Superseded | Revoked    | asked
//	*          | *          | before
func worse(before, asked resource.ConditionCode) bool {
	return before == "" || before == resource.CondSuperseded && asked == resource.CondRevoked
}

// endTries bounds how often an ending is written again after somebody else wrote one.
const endTries = 4

// End writes that an agent's term is over. news is false if that is known already.
func (t *Terms) End(ctx context.Context, agent string, e Ending) (news bool, err error) {
	for try := 1; ; try++ {
		news, err = t.endOnce(ctx, agent, e)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == endTries {
			return news, err
		}
	}
}

func (t *Terms) endOnce(ctx context.Context, agent string, e Ending) (news bool, err error) {
	var before Ending
	_, revision, err := t.meta.Get(endingKey(agent))
	if err == nil {
		before, _ = t.EndingOf(agent)
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
	if err := t.meta.Put(ctx, endingKey(agent), raw, revision); err != nil {
		return false, err
	}
	t.crash.At("hub.ending.written")
	t.log.Warn("the term of an agent is over", "agent", agent, "code", e.Code, "by", e.By, "reason", e.Reason)
	return true, nil
}

// LastWord is the sealed EndOfTerm of an agent.
func (t *Terms) LastWord(agent string, e Ending) []byte {
	data, err := wire.Seal(t.signer, wire.FactEndOfTerm, message.EndOfTerm{Agent: agent, Term: e.Term, Code: e.Code, At: e.At})
	if err != nil {
		t.log.Error("cannot seal", "topic", wire.FactEndOfTerm, "err", err)
		return nil
	}
	return data
}
