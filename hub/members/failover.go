package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// silentAfter is how long an agent must have said nothing to the hub to count as silent: three reports.
const silentAfter = 45 * time.Second

// standbyIs is how the hub knows the agent that stands by.
type standbyIs string

const (
	standbyNone   standbyIs = "none"
	standbySilent standbyIs = "silent"
	standbyTooOld standbyIs = "too old"
	standbyDoubt  standbyIs = "in doubt" // it has no store, or its disk was copied
	standbyReady  standbyIs = "ready"
)

// firstIs is how the hub knows the agent that serves the rack.
type firstIs string

const (
	firstGone   firstIs = "gone" // its term is over, or the rack has none
	firstHeard  firstIs = "heard"
	firstSilent firstIs = "silent"
)

// beatsAre are the heartbeats of the two on the segments of their rack.
type beatsAre string

const (
	beatsNone    beatsAre = "none" // not heard by both, or not for long enough
	beatsHeard   beatsAre = "heard"
	beatsStopped beatsAre = "stopped"
)

// failover is what becomes of a failover that was asked for.
type failover string

const (
	failoverGo       failover = "go"
	failoverNobody   failover = "no standby"
	failoverSilent   failover = "standby silent"
	failoverTooOld   failover = "standby too old"
	failoverDoubt    failover = "standby in doubt"
	failoverSpeaks   failover = "first speaks"
	failoverLives    failover = "first lives"
	failoverStatedly failover = "to be stated"
)

// failoverRule says whether the standby of a rack may serve it. The first row that fits decides.
//
//	standby  | stated | first  | beats   | verdict
//	none     | *      | *      | *       | no standby
//	too old  | *      | *      | *       | standby too old
//	silent   | *      | *      | *       | standby silent
//	in doubt | *      | *      | *       | standby in doubt
//	ready    | yes    | *      | *       | go
//	ready    | no     | gone   | *       | to be stated
//	ready    | no     | heard  | *       | first speaks
//	ready    | no     | silent | heard   | first lives
//	ready    | no     | silent | none    | to be stated
//	ready    | no     | silent | stopped | go
//
// Silence toward the hub says nothing of the rack: the first agent goes on without it. That it is silent on the
// segments says something only where it was heard there. Of one whose term is over nobody knows whether it was told. A
// standby in guard mode cannot record that it serves the rack, and would go on standing by.
func failoverRule(s standbyIs, stated bool, first firstIs, b beatsAre) failover {
	switch {
	case s == standbyNone:
		return failoverNobody
	case s == standbyTooOld:
		return failoverTooOld
	case s == standbySilent:
		return failoverSilent
	case s == standbyDoubt:
		return failoverDoubt
	case stated:
		return failoverGo
	case first == firstHeard:
		return failoverSpeaks
	case first == firstSilent && b == beatsHeard:
		return failoverLives
	case first == firstSilent && b == beatsStopped:
		return failoverGo
	}
	return failoverStatedly
}

// refusal is why a failover is not done. doubt is what the hub doubts of the standby.
func (f failover) refusal(r *resource.Rack, doubt string) error {
	const op = "fail over"
	rack, first, standby := r.Metadata.Name, r.Status.Agent, r.Status.Standby
	stated := fmt.Sprintf("make sure that the first host is off, or has no way to the rack; then rackctl rack failover %s --first-host-off --reason REASON", rack)
	conflict := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, op, format, args...)
	}
	switch f {
	case failoverNobody:
		return conflict("no agent stands by for rack %s", rack).WithHint("rackctl rack replace-agent %s --reason REASON lets another agent join", rack)
	case failoverTooOld:
		return conflict("agent %s does not know how to take over", standby).WithHint("upgrade it, and wait until it has reported")
	case failoverSilent:
		return protocol.Errorf(protocol.CodeUnavailable, op, "agent %s, which stands by, has not reported for %s", standby, silentAfter).
			WithHint("look after its host and its connection to the hub")
	case failoverDoubt:
		return conflict("agent %s, which stands by, %s", standby, doubt).
			WithHint("rackctl describe agent %s shows what is to be done at its host; or rackctl rack replace-agent %s --standby --reason REASON lets another one stand by", standby, rack)
	case failoverSpeaks:
		return conflict("agent %s serves rack %s, and was heard within %s", first, rack, silentAfter).WithHint("%s", stated)
	case failoverLives:
		return conflict("agent %s is silent at the hub, and heard by %s on a segment of the rack: it lives", first, standby).WithHint("%s", stated)
	case failoverStatedly:
		return conflict("nothing shows that the agent before does not serve rack %s any more", rack).WithHint("%s", stated)
	case failoverGo:
	}
	return nil
}

// Failover ends the term of a rack's agent and has the one serve it that stands by, in one commit. What was placed
// at the agent before is not known then: see Settle.
func (c *Room) Failover(ctx context.Context, rack string, q api.FailoverRequest, by string) (api.FailoverAnswer, error) {
	if err := q.Validate(); err != nil {
		return api.FailoverAnswer{}, err
	}
	for try := 1; ; try++ {
		out, err := c.failover(ctx, rack, q, by)
		if !errors.Is(err, state.ErrConflict) || try == installTries {
			return out, err
		}
	}
}

func (c *Room) failover(ctx context.Context, rack string, q api.FailoverRequest, by string) (out api.FailoverAnswer, err error) {
	r, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
	if err != nil {
		return out, err
	}
	next, is := c.standbyIs(r)
	if err := failoverRule(is, q.FirstHostOff, c.firstIs(r.Status.Agent), c.beatsAre(r)).refusal(r, c.cfg.Link.Doubt(r.Status.Standby)); err != nil {
		return out, err
	}
	now := c.cfg.Clock()
	first := r.Status.Agent
	e := terms.Ending{Code: resource.CondSuperseded, Term: r.Status.Term, At: now, By: by, Reason: q.Reason}
	before := first
	if before == "" { // it left, and its term says which it was
		before = terms.AgentName(rack, r.Status.Term)
	}
	r.Status.TakenOver = append(r.Status.TakenOver, resource.TakenOver{Agent: before, At: now, By: by, Reason: q.Reason})
	r.Status.Agent, r.Status.Term, r.Status.Standby = next.Metadata.Name, next.Spec.Term, ""
	r.Status.AgentKeys = append(r.Status.AgentKeys, next.Spec.Key)
	if err := c.cfg.Terms.Succeed(ctx, r, first, e); err != nil {
		return out, err
	}
	c.cfg.Crash.At("hub.failover.committed")
	if first != "" {
		c.cfg.Left(rack, first)
		c.superseded(ctx, rack, first, e)
	}
	said := "nothing was heard of the one before"
	if q.FirstHostOff {
		said = "who asked states that the first host is off"
	}
	c.cfg.Events.OwnOf(ctx, events.AgentTarget(next.Metadata.Name), "", resource.EventFailover, fmt.Sprintf("agent %s serves rack %s in place of %s, by %s: %s; %s", next.Metadata.Name, rack, before, by, q.Reason, said))
	c.cfg.Wake.Rack(rack)
	return api.FailoverAnswer{Rack: rack, Agent: next.Metadata.Name, Before: before}, nil
}

// standbyIs is the agent that stands by, and how the hub knows it.
func (c *Room) standbyIs(r *resource.Rack) (*resource.Agent, standbyIs) {
	a, err := store.Get[*resource.Agent](c.cfg.Objects, r.Status.Standby)
	if r.Status.Standby == "" || err != nil || !c.cfg.Terms.StandsBy(a) {
		return nil, standbyNone
	}
	l, err := c.cfg.Ledgers.Peek(a.Metadata.Name)
	switch _, at, ok := c.cfg.Heard(a.Metadata.Name); {
	case !ok, c.cfg.Clock().Sub(at) > silentAfter:
		return a, standbySilent
	case err != nil, !slices.Contains(l.Peer.Capabilities, message.CapStandby):
		return a, standbyTooOld
	case c.cfg.Link.Doubt(a.Metadata.Name) != "":
		return a, standbyDoubt
	}
	return a, standbyReady
}

// firstIs is how the hub knows the agent that serves a rack.
func (c *Room) firstIs(agent string) firstIs {
	if !c.lives(agent) {
		return firstGone
	}
	if _, at, ok := c.cfg.Heard(agent); ok && c.cfg.Clock().Sub(at) <= silentAfter {
		return firstHeard
	}
	return firstSilent
}

// beatsAre is how the two agents of a rack last heard each other, as both have reported.
func (c *Room) beatsAre(r *resource.Rack) beatsAre {
	first, _, _ := c.cfg.Heard(r.Status.Agent)
	second, _, _ := c.cfg.Heard(r.Status.Standby)
	return beatsOf(first.Beats, second.Beats)
}

// beatsOf says what the last reports of two agents tell of heartbeats: on a segment they count that each has heard for
// long enough, and the first one until it reported last. The first one lives if the second hears it on any segment.
func beatsOf(first, second []message.HeardBeat) beatsAre {
	both := false
	for _, b := range second {
		if b.Ago < message.BeatSilent {
			return beatsHeard
		}
		both = both || b.For >= message.BeatLong && slices.ContainsFunc(first, func(a message.HeardBeat) bool {
			return a.Segment == b.Segment && a.For >= message.BeatLong && a.Ago < message.BeatSilent
		})
	}
	if both {
		return beatsStopped
	}
	return beatsNone
}
