package link

import (
	"context"

	"rackboot/hub/events"
	"rackboot/protocol/resource"
)

// suspect notes that two agents have one key.
func (c *sessions) suspect(agent string) {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTimeout)
	defer cancel()
	now := c.cfg.Clock()
	news := false
	c.contacts.with(agent, func(k *contact) {
		if news = now.Sub(k.speakers.copiedAt) > copiedFor; news {
			k.speakers.copiedSince = now
		}
		k.speakers.copiedAt = now
	})
	if news {
		c.cfg.Logger.Error("two agents have one key: its disk was copied, or its folder is used twice", "agent", agent)
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentCopied, "agent "+agent+" speaks in two sessions in turn")
	}
}
