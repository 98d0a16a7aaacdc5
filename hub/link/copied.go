package link

import (
	"context"
	"time"

	"rackboot/hub/events"
	"rackboot/protocol/resource"
)

// copiedFor is how long after the last sign of a copy the agent's condition ends.
const copiedFor = time.Hour

// suspect notes that two agents have one key.
func (c *Room) suspect(agent string) {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTimeout)
	defer cancel()
	now := c.cfg.Clock()
	news := false
	c.contacts.with(agent, func(k *contact) {
		if news = now.Sub(k.copiedAt) > copiedFor; news {
			k.copiedSince = now
		}
		k.copiedAt = now
	})
	if news {
		c.cfg.Logger.Error("two agents have one key: its disk was copied, or its folder is used twice", "agent", agent)
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentCopied, "agent "+agent+" speaks in two sessions in turn")
	}
}

// copied is the condition of an agent that was suspected lately.
func (k *contact) copied(now time.Time) *resource.ConditionState {
	if k.copiedAt.IsZero() || now.Sub(k.copiedAt) > copiedFor {
		return nil
	}
	return &resource.ConditionState{Code: resource.CondAgentCopied, Since: k.copiedSince, Message: "two sessions speak in turn, last at " + k.copiedAt.UTC().Format(time.RFC3339)}
}
