package terms

import (
	"context"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Succeed ends the term of the agent that served a rack, and puts the rack as it is with its
// standby in that one's place, in one commit: no moment has two that serve, or one that was ended
// and none. An agent whose term is over already is left so; so is none. Of a conflict it is
// not known whose it is.
func (t *Terms) Succeed(ctx context.Context, r *resource.Rack, agent string, e Ending) error {
	if agent == "" {
		return t.objects.Put(ctx, r)
	}
	_, revision, err := t.meta.Get(endingKey(agent))
	if err == nil {
		return t.objects.Put(ctx, r)
	} else if protocol.CodeOf(err) != protocol.CodeNotFound {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := t.objects.PutBeside(ctx, r, endingKey(agent), raw, revision); err != nil {
		return err
	}
	t.log.Warn("the term of an agent is over, and its standby has the rack", "agent", agent, "standby", r.Status.Agent, "by", e.By, "reason", e.Reason)
	return nil
}
