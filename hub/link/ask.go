package link

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Ask asks an agent. done takes the answer, or one that says that none came; it is called once, unless the question
// is dropped. The code is unavailable.
func (c *Room) Ask(agent string, m message.Ask, done func(message.Answer)) (id string, err error) {
	if err := c.cfg.Start.Writable(); err != nil {
		return "", err // the hub that took over asks
	}
	now := c.cfg.Clock()
	m.ID = c.cfg.NewID()
	if m.NotAfter.IsZero() || m.NotAfter.After(now.Add(askFor)) {
		m.NotAfter = now.Add(askFor)
	}
	a := &asked{Ask: m, agent: agent, again: now.Add(askAgain), pause: askAgain, done: done}
	if err := c.asks.add(a); err != nil {
		return "", err
	}
	c.sender.send(message.TopicDown(agent, message.LeafAsk), m)
	return a.ID, nil
}

// asksAgain sends again what was not answered, and ends what nobody waits for.
func (c *Room) asksAgain(now time.Time) {
	again, over := c.asks.due(now)
	for _, a := range over {
		c.metrics.answers.WithLabelValues(string(a.Kind), string(resultNone)).Inc()
		a.done(message.Answer{
			ID: a.ID, Code: protocol.CodeTimeout, Message: "agent " + a.agent + " did not answer",
			Hint: "see whether it is connected: rackctl get agents",
		})
	}
	slices.SortFunc(again, func(a, b asked) int { return a.NotAfter.Compare(b.NotAfter) })
	for _, a := range again {
		c.sender.send(message.TopicDown(a.agent, message.LeafAsk), a.Ask)
	}
}
