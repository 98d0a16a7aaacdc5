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

// Revoke refuses an agent's certificate and key for ever: its connection is cut, its
// messages are not heeded, it gets no documents and no certificate. What it enforces
// stays as it is. The rack has no agent from then on. It may be said of an agent whose
// term is over already, and again.
func (c *Room) Revoke(ctx context.Context, agent string, r api.EndRequest, by string) (api.EndAnswer, error) {
	const op = "revoke an agent"
	if err := r.Validate(); err != nil {
		return api.EndAnswer{}, err
	}
	rack, term, err := c.cfg.Terms.RackOf(agent)
	if err != nil {
		return api.EndAnswer{}, protocol.Errorf(protocol.CodeOf(err), op, "%w", err).WithHint("%s", protocol.HintOf(err))
	}
	e := terms.Ending{Code: resource.CondRevoked, Term: term, At: c.cfg.Clock(), By: by, Reason: r.Reason}
	news, err := c.cfg.Terms.End(ctx, agent, e)
	if err != nil {
		return api.EndAnswer{}, err
	}
	out := api.EndAnswer{Agent: agent, Rack: rack, Code: resource.CondRevoked}
	if news {
		c.cfg.Link.Dismiss(agent, "", e) // if it comes through, the agent need not ask why it is cut
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventRevoked, fmt.Sprintf("agent %s of rack %s, by %s: %s", agent, rack, by, r.Reason))
	}
	if c.cfg.Cut == nil {
		out.Broker = "the broker is not the hub's own: rackboot-hub broker-config writes its users down without this agent; have the broker read that, and end the connection if it does not"
	} else if out.Cut, err = c.cfg.Cut(agent); err != nil {
		return out, err // said again, it is tried again
	}
	c.cfg.Wake.Rack(rack)
	return out, nil
}

// CutRevoked ends the connections that revoked agents have made before the hub knew
// who they are. It is called once, when the hub starts: until then it says nothing to
// anybody and heeds nobody.
func (c *Room) CutRevoked() error {
	if c.cfg.Cut == nil {
		return nil
	}
	for _, a := range store.List[*resource.Agent](c.cfg.Objects) {
		if !c.cfg.Terms.Refused(a.Metadata.Name) {
			continue
		}
		if _, err := c.cfg.Cut(a.Metadata.Name); err != nil {
			return err
		}
	}
	return nil
}
