package members

import (
	"context"
	"fmt"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ReplaceAgent ends the term of a rack's agent, if it has one, and makes a token for
// the next. The one before is told so when it is heard, by a signed word that it keeps.
// One that cannot be told goes on with what it has: see docs/guide/agents.md for what that is.
func (c *Room) ReplaceAgent(ctx context.Context, rack string, r api.EndRequest, by string) (api.EndAnswer, error) {
	if err := r.Validate(); err != nil {
		return api.EndAnswer{}, err
	}
	have, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
	if err != nil {
		return api.EndAnswer{}, err
	}
	out := api.EndAnswer{Agent: have.Status.Agent, Rack: rack, Code: resource.CondSuperseded}
	if err := c.supersede(ctx, have, r.Reason, by); err != nil {
		return out, err
	}
	if e, over := c.cfg.Terms.EndingOf(out.Agent); over {
		out.Code = e.Code // it may be revoked already
	}
	token, err := c.NewJoinToken(ctx, rack)
	if err != nil {
		return out, err
	}
	out.Token = &token
	return out, nil
}

func (c *Room) supersede(ctx context.Context, r *resource.Rack, reason, by string) error {
	agent := r.Status.Agent
	if agent == "" {
		return nil
	}
	e := terms.Ending{Code: resource.CondSuperseded, Term: r.Status.Term, At: c.cfg.Clock(), By: by, Reason: reason}
	news, err := c.cfg.Terms.End(ctx, agent, e)
	if err != nil || !news {
		return err
	}
	c.cfg.Link.Dismiss(agent, "", e)
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventSuperseded, fmt.Sprintf("agent %s of rack %s, by %s: %s", agent, r.Metadata.Name, by, reason))
	c.cfg.Wake.Rack(r.Metadata.Name)
	return nil
}
