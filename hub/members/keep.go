package members

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// KeepAgent says which of several agents that have one disk goes on. It takes a new incarnation, which the
// hub chooses here and keeps until it has heard it; the others are told that they are superseded, whenever
// they are heard. Said again, it is the same word.
func (c *Room) KeepAgent(ctx context.Context, rack string, r api.KeepRequest, by string) (api.KeepAnswer, error) {
	if err := r.Validate(); err != nil {
		return api.KeepAnswer{}, err
	}
	have, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
	if err != nil {
		return api.KeepAnswer{}, err
	}
	agent := have.Status.Agent
	if _, over := c.cfg.Terms.EndingOf(agent); agent == "" || over {
		return api.KeepAnswer{}, protocol.Errorf(protocol.CodeConflict, "keep an agent", "rack %s has no agent", rack).
			WithHint("rackctl rack join-token %s lets one join", rack)
	}
	raw := make([]byte, 16)
	if _, err := io.ReadFull(c.cfg.Random, raw); err != nil {
		return api.KeepAnswer{}, err
	}
	k := terms.KeptRun{Kept: message.Kept{Incarnation: hex.EncodeToString(raw)}, Run: r.Run, At: c.cfg.Clock(), By: by, Reason: r.Reason}
	out, news := api.KeepAnswer{Agent: agent, Rack: rack}, false
	err = c.cfg.Terms.ChangeCopies(ctx, agent, func(all *terms.Copies) (bool, error) {
		was := all.Kept
		if err := all.Keep(k); err != nil {
			return false, err
		}
		out.Run, news = all.Kept.Run, all.Kept != was
		return news, nil
	})
	if err != nil || !news {
		return out, err
	}
	c.cfg.Link.TellCopied(agent)
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentKept, fmt.Sprintf("agent %s of rack %s goes on as run %s, by %s: %s", agent, rack, out.Run, by, r.Reason))
	return out, nil
}
