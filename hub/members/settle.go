package members

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Settle ends what failovers left open: the holds of an agent before are taken over from its own signed word, or all that
// are open are given up. Servers of the rack may be switched on once none is open; what was taken over
// is so once the rack's agent has those holds: see package holds.
func (c *Room) Settle(ctx context.Context, rack string, q api.SettleRequest, by string) (api.SettleAnswer, error) {
	const op = "settle a failover"
	if err := q.Validate(); err != nil {
		return api.SettleAnswer{}, err
	}
	for try := 1; ; try++ {
		r, err := store.Get[*resource.Rack](c.cfg.Objects, rack)
		if err != nil {
			return api.SettleAnswer{}, err
		}
		if len(r.Status.TakenOver) == 0 {
			return api.SettleAnswer{}, protocol.Errorf(protocol.CodeConflict, op, "no failover of rack %s is open", rack).
				WithHint("rackctl get rack %s -o yaml shows status.takenOver while one is", rack)
		}
		out, how := api.SettleAnswer{Rack: rack}, "are given up: "+q.Reason
		if q.LossAccepted {
			for _, over := range r.Status.TakenOver {
				out.Agents = append(out.Agents, over.Agent)
			}
			r.Status.TakenOver = nil
		} else {
			if out, err = c.takeOver(ctx, r, q.Holds); err != nil {
				return out, err
			}
			how = fmt.Sprintf("are taken over: %d, %s", len(out.Adopted), strings.Join(out.Adopted, " "))
			i := slices.IndexFunc(r.Status.TakenOver, func(over resource.TakenOver) bool { return over.Agent == out.Agents[0] })
			if r.Status.TakenOver[i].Adopted = out.Adopted; len(out.Adopted) == 0 {
				r.Status.TakenOver = slices.Delete(r.Status.TakenOver, i, i+1)
			}
		}
		err = c.cfg.Objects.Put(ctx, r)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < installTries {
			continue
		}
		if err != nil {
			return out, err
		}
		c.cfg.Crash.At("hub.settle.committed")
		for _, agent := range out.Agents {
			c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventSettled, fmt.Sprintf("the holds of agent %s of rack %s, by %s, %s", agent, rack, by, how))
		}
		c.cfg.Wake.Rack(rack)
		return out, nil
	}
}

// takeOver adopts the holds that an agent signed whose rack was taken over. What a crash has cut short is completed when
// it is asked for again.
func (c *Room) takeOver(ctx context.Context, r *resource.Rack, sealed []byte) (out api.SettleAnswer, err error) {
	const op = "take over holds"
	a, m, err := c.openHolds(r, sealed)
	if err != nil {
		return out, err
	}
	over := r.Status.TakenOver[slices.IndexFunc(r.Status.TakenOver, func(o resource.TakenOver) bool { return o.Agent == m.Agent })]
	if m.At.Add(decide.ClockSlack).Before(over.At) {
		return out, protocol.Errorf(protocol.CodeConflict, op, "the holds of agent %s were read at %s, and the rack was taken over at %s: more may have been placed between", m.Agent, m.At, over.At).
			WithHint("run rackboot-agent local-holds on the first host once more; if its clock is wrong, set it before")
	}
	out = api.SettleAnswer{Rack: r.Metadata.Name, Agents: []string{m.Agent}}
	for _, h := range m.Holds {
		in, err := c.cfg.Objects.RackOf(h.Server)
		if err != nil || in != r.Metadata.Name {
			c.cfg.Logger.Error("a hold of an agent is of no server of its rack", "hold", h.ID, "server", h.Server, "agent", m.Agent)
			continue
		}
		if err := c.cfg.Adopt(ctx, a, resource.ServerReport{Server: h.Server, Holds: []resource.HoldReport{{ID: h.ID, Word: resource.HoldEnforced, Hold: &h}}}); err != nil {
			return out, err
		}
		if _, err := store.Peek[*resource.Hold](c.cfg.Objects, h.ID); err == nil {
			out.Adopted = append(out.Adopted, h.ID)
		}
	}
	c.cfg.Crash.At("hub.settle.adopted")
	return out, nil
}

// openHolds opens what one of the agents signed that a rack was taken over from. The codes are denied and not_found.
func (c *Room) openHolds(r *resource.Rack, sealed []byte) (*resource.Agent, message.LocalHolds, error) {
	const op = "take over holds"
	known := 0
	for _, over := range r.Status.TakenOver {
		a, err := store.Get[*resource.Agent](c.cfg.Objects, over.Agent)
		if err != nil {
			continue
		}
		known++
		var m message.LocalHolds
		if wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactLocalHolds, sealed, &m) == nil && m.Agent == over.Agent && m.Rack == r.Metadata.Name && m.Term == a.Spec.Term {
			return a, m, nil
		}
	}
	if known == 0 {
		return nil, message.LocalHolds{}, protocol.Errorf(protocol.CodeNotFound, op, "the hub has no key any more of an agent that rack %s was taken over from", r.Metadata.Name).
			WithHint("place the holds that the file has at the hub, then rackctl rack settle %s --loss-accepted --reason REASON", r.Metadata.Name)
	}
	return nil, message.LocalHolds{}, protocol.Errorf(protocol.CodeDenied, op, "no agent that rack %s was taken over from has signed the file", r.Metadata.Name).
		WithHint("give the file that rackboot-agent local-holds wrote on the first host; rackctl get rack %s -o yaml names its agent under status.takenOver", r.Metadata.Name)
}
