package members

import (
	"context"
	"fmt"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Settle ends what a failover left open: servers of the rack may be switched on again.
func (c *Room) Settle(ctx context.Context, rack string, q api.SettleRequest, by string) (api.SettleAnswer, error) {
	const op = "settle a failover"
	if err := q.Validate(); err != nil {
		return api.SettleAnswer{}, err
	}
	for try := 1; ; try++ {
		r, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
		if err != nil {
			return api.SettleAnswer{}, err
		}
		if len(r.Status.TakenOver) == 0 {
			return api.SettleAnswer{}, protocol.Errorf(protocol.CodeConflict, op, "no failover of rack %s is open", rack).
				WithHint("rackctl get rack %s -o yaml shows status.takenOver while one is", rack)
		}
		out := api.SettleAnswer{Rack: rack}
		for _, over := range r.Status.TakenOver {
			out.Agents = append(out.Agents, over.Agent)
		}
		if !q.LossAccepted {
			return out, protocol.Errorf(protocol.CodeUnsupported, op, "holds cannot be read yet")
		}
		r.Status.TakenOver = nil
		err = c.cfg.Objects.Put(ctx, r)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < installTries {
			continue
		}
		if err != nil {
			return out, err
		}
		c.cfg.Crash.At("hub.settle.committed")
		for _, agent := range out.Agents {
			c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventSettled, fmt.Sprintf("the holds of agent %s of rack %s are given up, by %s: %s", agent, rack, by, q.Reason))
		}
		c.cfg.Wake.Rack(rack)
		return out, nil
	}
}
