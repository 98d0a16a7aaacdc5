package link

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/reports"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// notAckedAfter is how long a document may go unacknowledged while reports arrive.
const notAckedAfter = time.Minute

// Conditions are those of an agent that the hub alone can see. reported is when
// its last report came.
func (c *Room) Conditions(agent string, acked map[string]protocol.Head, reported, now time.Time) (out []resource.ConditionState) {
	k := c.contacts.see(agent)
	if k.progress.stage == stageBehind {
		out = append(out, resource.ConditionState{
			Code: resource.CondHubBehind, Since: k.progress.since,
			Message: k.progress.why + ": the hub was restored from a copy; stop it and run rackboot-hub restored",
		})
	}
	if c.cfg.Start.Replaced() {
		out = append(out, resource.ConditionState{
			Code: resource.CondTwoHubs, Since: c.cfg.Start.SteppedDownAt(),
			Message: "this hub has stepped down; stop one of the two, and restart this one to take over",
		})
	}
	if k.guarding.known() {
		out = append(out, resource.ConditionState{Code: resource.CondGuardMode, Since: k.guarding.since})
	}
	if cond := k.reverted.condition(); cond != nil {
		out = append(out, *cond)
	}
	if cond := copiedCondition(c.cfg.Terms.CopiesOf(agent)); cond != nil {
		out = append(out, *cond)
	}
	if cond := k.refused.condition(now); cond != nil {
		out = append(out, *cond)
	}
	var late []string
	since := now
	for leaf, o := range k.sent.open {
		if acked[leaf] != o.head && now.Sub(o.since) > notAckedAfter {
			late = append(late, fmt.Sprintf("%s %d/%d", leaf, o.head.Epoch, o.head.Version))
			if o.since.Before(since) {
				since = o.since
			}
		}
	}
	if len(late) > 0 && !reported.IsZero() && now.Sub(reported) <= reports.DarkAfter {
		slices.Sort(late)
		out = append(out, resource.ConditionState{Code: resource.CondNotAcknowledged, Since: since, Message: strings.Join(late, ", ")})
	}
	return out
}

// Ready reports whether documents may be made for an agent.
func (c *Room) Ready(agent string) bool { return c.contacts.see(agent).progress.stage == stageReady }

// MayBeTwo reports whether more than one agent may have the disk, as far as is known now.
func (c *Room) MayBeTwo(agent string) bool {
	k := c.contacts.see(agent)
	return k.speakers.mayBeTwo(c.cfg.Clock()) || notAlone(c.cfg, agent)
}

// MayHold reports whether a hold document may be made for an agent. One in guard mode acts on it, and
// acknowledges nothing.
func (c *Room) MayHold(agent string) bool {
	k := c.contacts.see(agent)
	return k.progress.stage == stageReady || (k.guarding.known() || notAlone(c.cfg, agent)) && k.progress.stage != stageBehind
}

// greeted reports whether an agent has a session with this hub, and can be asked.
func (c *Room) greeted(agent string) bool { return c.contacts.see(agent).nonces.now.nonce != "" }

// Heed notes what an agent cannot do of what its documents want, and reports whether they may be made.
func (c *Room) Heed(agent string, tooOld map[string][]message.Capability, unheeded map[string][]string) (ready bool) {
	c.contacts.with(agent, func(k *contact) { ready, k.limits = k.progress.stage == stageReady, limits{tooOld, unheeded} })
	return ready
}

// Limits is what was noted last of what an agent cannot do, by server.
func (c *Room) Limits(agent string) (tooOld map[string][]message.Capability, unheeded map[string][]string) {
	k := c.contacts.see(agent)
	return k.limits.tooOld, k.limits.unheeded
}

// Forget forgets what is known of an agent in this run.
func (c *Room) Forget(agent string) {
	c.contacts.drop(agent)
	c.Ledgers.lines.drop(agent)
}

// Known are the agents of which something is known in this run, in no order.
func (c *Room) Known() []string { return c.contacts.names() }

// OpenAsks counts the questions that agents have not answered yet.
func (c *Room) OpenAsks() int { return c.asks.open() }

// SendAgain has what an agent has not acknowledged sent to it at once.
func (c *Room) SendAgain(agent string) { c.delivery.sends.again(agent) }

// Session is the present session of an agent; empty without one.
func (c *Room) Session(agent string) string { return c.contacts.see(agent).nonces.now.session }

// DropAsk forgets a question for whose answer nobody waits any more.
func (c *Room) DropAsk(id, agent string) { c.asks.take(id, agent) }

// Hears says whether an agent can be asked now: it does answer, and was greeted.
func (c *Room) Hears(agent string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	return err == nil && l.Peer.Can(message.CapAsk) && (c.greeted(agent) || c.overhears(agent))
}

// CannotAsk says whether an agent is known to be of a version that answers nothing.
func (c *Room) CannotAsk(agent string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	return err == nil && l.Peer.Incarnation != "" && !l.Peer.Can(message.CapAsk)
}

// Doubt is why nothing that an agent proves counts, for people; empty where it does.
func (c *Room) Doubt(agent string) string {
	switch {
	case c.contacts.see(agent).guarding.known():
		return "is in guard mode"
	case notAlone(c.cfg, agent):
		return "runs twice, from one disk"
	}
	return ""
}

// Runs are the agents of one disk that were heard, where there is more than one.
func (c *Room) Runs(agent string) []resource.AgentRun {
	copies := c.cfg.Terms.CopiesOf(agent)
	if !copies.Open() {
		return nil
	}
	runs := append([]resource.AgentRun(nil), copies.Runs...)
	var last map[string]time.Time
	c.contacts.with(agent, func(k *contact) {
		last = map[string]time.Time{}
		for _, r := range k.speakers.runs {
			if r.Last.After(last[r.Run]) {
				last[r.Run] = r.Last
			}
		}
	})
	for i := range runs {
		if at := last[runs[i].Run]; at.After(runs[i].Last) {
			runs[i].Last = at // what is kept is behind
		}
		runs[i].Kept = copies.Kept != nil && copies.Kept.Self != "" && runs[i].Self == copies.Kept.Self
	}
	return runs
}

// overhears reports whether another hub works an agent, and it was heard lately.
func (c *Room) overhears(agent string) bool {
	if !c.cfg.Start.Shares() || c.cfg.Start.WorksFor(agent) {
		return false
	}
	_, at, heard := c.cfg.Reports.Agent(agent)
	return heard && c.cfg.Clock().Sub(at) < reports.DarkAfter
}
