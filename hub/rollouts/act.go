package rollouts

import (
	"context"

	"rackboot/hub/events"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// CommandRollout does what somebody wants of the roll-out of a group. The codes are
// invalid, not_found, conflict (the roll-out is not such that it can be done), unavailable
// and timeout.
func (c *Room) CommandRollout(ctx context.Context, name string, r api.RolloutRequest, by string) (api.GroupAnswer, error) {
	if err := r.Check(); err != nil {
		return api.GroupAnswer{}, err
	}
	for try := 1; ; try++ {
		g, err := store.Get[*resource.ServerGroup](c.cfg.Objects, name)
		if err != nil {
			return api.GroupAnswer{}, err
		}
		if g.Status.Rollout == nil {
			return api.GroupAnswer{}, protocol.Errorf(protocol.CodeConflict, "rollout "+string(r.Command), "group %q has no roll-out", name).
				WithHint("one begins with the group's next revision: rackctl group history %s", name)
		}
		next, err := rollout.Do(c.cfg.Clock(), *g.Status.Rollout, rollout.Command(r.Command), by, r.Reason)
		if err != nil {
			return api.GroupAnswer{}, err
		}
		g.Status.Rollout = &next
		err = c.cfg.Objects.Put(ctx, g)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue // a pass was first
		}
		if err != nil {
			return api.GroupAnswer{}, err
		}
		c.cfg.Crash.At("hub.rollout.said")
		c.cfg.Revisions.Event(ctx, g, "has its roll-out of revision %d told to %s by %s%s", next.Revision, r.Command, by, events.Because(r.Reason))
		c.cfg.Wake.Site()
		return api.GroupAnswer{Group: g}, nil
	}
}
