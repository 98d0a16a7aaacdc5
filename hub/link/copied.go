package link

import (
	"context"
	"slices"
	"time"

	"rackboot/hub/events"
	"rackboot/protocol/resource"
)

// copiedFor is how long after the last sign of a copy the agent's condition ends.
const copiedFor = time.Hour

// pastSessions bounds the sessions of an agent that are remembered as over.
const pastSessions = 8

// speaks notes a session of which a message is certainly new, and says whether it is one that
// another has taken over from. An agent never goes back to an earlier session: each
// connection makes its own. So two processes speak in turn, with one key.
func (k *contact) speaks(session string) (back bool) {
	if session == k.speaking {
		return false
	}
	back = slices.Contains(k.past, session)
	if k.speaking != "" && !slices.Contains(k.past, k.speaking) {
		k.past = append(k.past, k.speaking)
		k.past = k.past[max(0, len(k.past)-pastSessions):]
	}
	k.speaking = session
	return back
}

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
