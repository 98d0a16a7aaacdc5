package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/reports"
	"rackboot/protocol"
)

// notAckedAfter is how long a document may go unacknowledged while reports arrive.
const notAckedAfter = time.Minute

func (c *Control) decorateAgent(a *protocol.Agent) {
	name, now := a.Metadata.Name, c.cfg.Clock()
	r, at, ok := c.reports.Agent(name)
	if ok {
		got := at
		a.Status = protocol.AgentStatus{LastReport: &got, Incarnation: r.Incarnation, Version: r.Version, Applied: r.Applied, Conditions: slices.Clone(r.Conditions)}
		if now.Sub(got) > reports.DarkAfter {
			a.Status.Conditions = append(a.Status.Conditions, protocol.ConditionState{Code: protocol.CondDark, Since: got})
		}
	} else {
		a.Status.Conditions = []protocol.ConditionState{{Code: protocol.CondDark, Since: c.began}}
	}
	var acked map[string]protocol.Head
	if l, err := c.cfg.Store.PeekLedger(name); err == nil {
		acked = l.Acked
		a.Status.Sent = map[string]protocol.Head{}
		for leaf, s := range l.Sent {
			a.Status.Sent[leaf] = s.Head
		}
	}
	seen := c.agentConditions(name, acked, at, now)
	if clock := c.agentClock(name, r, at, now); ok && clock != nil {
		seen = append(seen, *clock)
	}
	for _, cond := range seen {
		// What the agent says itself is said once.
		if !slices.ContainsFunc(a.Status.Conditions, func(s protocol.ConditionState) bool {
			return s.Code == cond.Code && cond.Code != protocol.CondMessagesRefused
		}) {
			a.Status.Conditions = append(a.Status.Conditions, cond)
		}
	}
	if e, over := c.Terms.EndingOf(name); over {
		a.Status.Conditions = append(a.Status.Conditions, protocol.ConditionState{
			Code: e.Code, Since: e.At, Message: fmt.Sprintf("by %s: %s", e.By, e.Reason),
		})
	} else if code := c.Terms.Of(a).Refusal(); code != "" {
		a.Status.Conditions = append(a.Status.Conditions, protocol.ConditionState{Code: code})
	}
}

// agentConditions are those of an agent that the hub alone can see. reported is when
// its last report came.
func (c *Control) agentConditions(agent string, acked map[string]protocol.Head, reported, now time.Time) (out []protocol.ConditionState) {
	k := c.contacts.see(agent)
	if k.stage == stageBehind {
		out = append(out, protocol.ConditionState{
			Code: protocol.CondHubBehind, Since: k.since,
			Message: k.why + ": the hub was restored from a copy; stop it and run rackboot-hub restored",
		})
	}
	if c.fence.SteppedDown() {
		out = append(out, protocol.ConditionState{
			Code: protocol.CondTwoHubs, Since: c.fence.SteppedDownAt(),
			Message: "this hub has stepped down; stop one of the two, and restart this one to take over",
		})
	}
	out = append(out, c.agentConds.Of(agent)...)
	if cond := k.copied(now); cond != nil {
		out = append(out, *cond)
	}
	if cond := k.refused.condition(now); cond != nil {
		out = append(out, *cond)
	}
	var late []string
	since := now
	for leaf, o := range k.open {
		if acked[leaf] != o.head && now.Sub(o.since) > notAckedAfter {
			late = append(late, fmt.Sprintf("%s %d/%d", leaf, o.head.Epoch, o.head.Version))
			if o.since.Before(since) {
				since = o.since
			}
		}
	}
	if len(late) > 0 && !reported.IsZero() && now.Sub(reported) <= reports.DarkAfter {
		slices.Sort(late)
		out = append(out, protocol.ConditionState{Code: protocol.CondNotAcknowledged, Since: since, Message: strings.Join(late, ", ")})
	}
	return out
}
