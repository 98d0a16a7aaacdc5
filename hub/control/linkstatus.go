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

// ready reports whether documents may be made for an agent.
func (c *Control) ready(agent string) bool { return c.contacts.see(agent).stage == stageReady }

// greeted reports whether an agent has a session with this hub, and can be asked.
func (c *Control) greeted(agent string) bool { return c.contacts.see(agent).now.nonce != "" }

// heed notes what an agent cannot do of what its documents want, and reports whether they may be made.
func (c *Control) heed(agent string, tooOld map[string][]protocol.Capability, unheeded map[string][]string) (ready bool) {
	c.contacts.with(agent, func(k *contact) { ready, k.tooOld = k.stage == stageReady, tooOld; k.unheeded = unheeded })
	return ready
}

// limits is what was noted last of what an agent cannot do, by server.
func (c *Control) limits(agent string) (tooOld map[string][]protocol.Capability, unheeded map[string][]string) {
	k := c.contacts.see(agent)
	return k.tooOld, k.unheeded
}

// forgetAgent forgets what is known of an agent in this run.
func (c *Control) forgetAgent(agent string) { c.contacts.drop(agent) }

// stageOf is how far the hub may act towards an agent.
func (c *Control) stageOf(agent string) stage { return c.contacts.see(agent).stage }

// contactNames are the agents of which something is known in this run, in no order.
func (c *Control) contactNames() []string { return c.contacts.names() }

// openAsks counts the questions that agents have not answered yet.
func (c *Control) openAsks() int { return c.asks.open() }

// sendAgain has what an agent has not acknowledged sent to it at once.
func (c *Control) sendAgain(agent string) { c.sends.again(agent) }

// sessionOf is the present session of an agent; empty without one.
func (c *Control) sessionOf(agent string) string { return c.contacts.see(agent).now.session }
