package members

import (
	"context"
	"fmt"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ReplaceAgent ends the term of a rack's agent, or of the one that stands by, if it has one, and makes a token for
// the next. While one stands by it is the next to serve, and nobody else is. The one before is told so when it is heard, by a signed word that it keeps.
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
	if r.Standby {
		out.Agent = have.Status.Standby
	} else if c.lives(have.Status.Standby) {
		return api.EndAnswer{}, protocol.Errorf(protocol.CodeConflict, "replace an agent", "agent %s stands by for rack %s, and serves it next", have.Status.Standby, rack).
			WithHint("rackctl rack failover %s --reason REASON", rack)
	}
	if err := c.supersede(ctx, rack, out.Agent, r.Reason, by); err != nil {
		return out, err
	}
	if e, over := c.cfg.Terms.EndingOf(out.Agent); over {
		out.Code = e.Code // it may be revoked already
	}
	token, err := c.NewJoinToken(ctx, rack, r.Standby)
	if err != nil {
		return out, err
	}
	out.Token = &token
	return out, nil
}

func (c *Room) supersede(ctx context.Context, rack, agent, reason, by string) error {
	if agent == "" {
		return nil
	}
	_, term, err := c.cfg.Terms.RackOf(agent)
	if err != nil {
		return err
	}
	e := terms.Ending{Code: resource.CondSuperseded, Term: term, At: c.cfg.Clock(), By: by, Reason: reason}
	news, err := c.cfg.Terms.End(ctx, agent, e)
	if err != nil || !news {
		return err
	}
	c.superseded(ctx, rack, agent, e)
	return nil
}

// superseded tells everybody of an ending that is in the store.
func (c *Room) superseded(ctx context.Context, rack, agent string, e terms.Ending) {
	c.cfg.Link.Dismiss(agent, "", e)
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventSuperseded, fmt.Sprintf("agent %s of rack %s, by %s: %s", agent, rack, e.By, e.Reason))
	c.cfg.Wake.Rack(rack)
}
