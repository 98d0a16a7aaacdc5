package upgrades

import (
	"context"

	"rackboot/hub/events"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// CommandUpgrade does what somebody wants of the roll-out of an upgrade. The codes are invalid, not_found, conflict (it is
// not such that it can be done), unavailable and timeout.
func (c *Room) CommandUpgrade(ctx context.Context, name string, r api.RolloutRequest, by string) (*resource.AgentUpgrade, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	op := "rollout " + string(r.Command)
	for try := 1; ; try++ {
		u, err := store.Get[*resource.AgentUpgrade](c.cfg.Objects, name)
		if err != nil {
			return nil, err
		}
		if u.Status.Rollout == nil {
			return nil, protocol.Errorf(protocol.CodeConflict, op, "agent upgrade %q has no roll-out yet", name).
				WithHint("rackctl describe agentupgrade %s says what it waits for", name)
		}
		next, err := rollout.Do(c.cfg.Clock(), *u.Status.Rollout, rollout.Command(r.Command), by, r.Reason)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), op, "%w", err).
				WithHint("rackctl describe agentupgrade %s shows how far it is; a package of before is brought back by an AgentUpgrade of its own", name)
		}
		u.Status.Rollout = &next
		err = c.cfg.Objects.Put(ctx, u)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue // a turn was first
		}
		if err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.upgrade.said")
		c.event(ctx, u, "has its roll-out told to %s by %s%s", r.Command, by, events.Because(r.Reason))
		c.moving.Store(true)
		return u, nil
	}
}
