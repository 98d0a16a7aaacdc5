package link

import (
	"context"
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// answer gives an agent's answer to whoever waits for it.
func (c *hearing) answer(_ context.Context, a *resource.Agent, m message.Answer) error {
	name := a.Metadata.Name
	if !c.cfg.Terms.Active(a) || c.cfg.Start.SteppedDown() {
		return nil
	}
	// Another hub gives the agent its nonces where that works it. Nobody has heard of a question's id before it was asked.
	if c.cfg.Start.WorksFor(name) && !c.sessions.counts(name, "", m.Nonce) {
		return nil
	}
	q := c.asks.take(m.ID, name)
	if q == nil {
		c.metrics.late.Inc()
		return nil
	}
	what := resultOK
	if m.Code != "" {
		what = resultFailed
	}
	c.metrics.answers.WithLabelValues(string(q.Kind), string(what)).Inc()
	q.done(m)
	return nil
}

// AnswerError is the error that an answer carries; nil if it carries none.
func AnswerError(op string, m message.Answer) error {
	if m.Code == "" {
		return nil
	}
	code := m.Code
	if !slices.Contains(protocol.Codes(), code) {
		code = protocol.CodeInternal // of a later version
	}
	return resource.AsCondition(m.Condition, &protocol.Error{Code: code, Op: op, Message: m.Message, Hint: m.Hint})
}

// Failure is what an answer says went wrong, with what to do.
func Failure(err error) string {
	if hint := protocol.HintOf(err); hint != "" {
		return fmt.Sprintf("%s (%s)", err, hint)
	}
	return err.Error()
}
