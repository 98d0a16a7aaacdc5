package link

import (
	"context"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// AskNow asks an agent and returns the body of its answer. It waits until ctx ends, at most wait.
// instead is what to do where the agent cannot be asked, for people. The codes are unsupported,
// unavailable, timeout, and those of the agent's answer.
func (c *Room) AskNow(ctx context.Context, op, agent string, m message.Ask, wait time.Duration, instead string) ([]byte, error) {
	switch {
	case c.CannotAsk(agent):
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "agent %s is of a version that answers no questions", agent).WithHint("upgrade it")
	case !c.Hears(agent):
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "agent %s has not greeted the hub", agent).WithHint("%s", instead)
	}
	m.NotAfter = c.cfg.Clock().Add(wait)
	answered := make(chan message.Answer, 1)
	q, err := c.Ask(agent, m, func(a message.Answer) { answered <- a })
	if err != nil {
		return nil, err
	}
	select {
	case m := <-answered:
		if err := AnswerError(op, m); err != nil {
			return nil, err
		}
		return m.Body, nil
	case <-ctx.Done():
		c.DropAsk(q, agent)
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "agent %s had not answered when the caller stopped waiting", agent).
			WithHint("try again; %s", instead)
	}
}
