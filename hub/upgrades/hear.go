package upgrades

import (
	"context"
	"errors"
	"time"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// overdue is how long after its NotAfter an order of which nothing is heard is over: an agent that had begun it would
// have said so, or would have gone back.
const overdue = 3 * time.Minute

// heardOf is what is known of an order.
type heardOf string

const (
	heardNothing heardOf = "nothing"
	heardStage   heardOf = "stage"   // it goes on
	heardGood    heardOf = "good"    // it has ended well
	heardBad     heardOf = "bad"     // refused, or gone back
	heardLate    heardOf = "late"    // refused, since its time was over: nothing was changed
	heardForgot  heardOf = "another" // the agent had begun it, and speaks of it no more
)

// orderEnd is what becomes of an order.
type orderEnd string

const (
	orderOpen   orderEnd = "open"
	orderEnded  orderEnd = "ended"
	orderUndone orderEnd = "undone"
)

// endRule says what becomes of an open order. The first row that fits decides.
//
//	heard   | dark | overdue | order
//	good    | *    | *       | ended
//	bad     | *    | *       | ended
//	late    | *    | *       | undone
//	stage   | *    | *       | open
//	*       | yes  | *       | open
//	*       | no   | no      | open
//	nothing | no   | yes     | undone
//	another | no   | yes     | ended
//
// Of a silent agent nobody knows what it does: its order stays open, and nothing else is begun with it.
func endRule(heard heardOf, dark, overdue bool) orderEnd {
	switch {
	case heard == heardGood || heard == heardBad:
		return orderEnded
	case heard == heardLate:
		return orderUndone
	case heard == heardStage || dark || !overdue:
		return orderOpen
	case heard == heardForgot:
		return orderEnded
	}
	return orderUndone
}

// heardBy is what a report says of an order.
func heardBy(o *resource.AgentOrder, r *message.UpgradeReport) heardOf {
	switch {
	case r == nil || r.Order != o.ID:
		if o.Stage != "" {
			return heardForgot
		}
		return heardNothing
	case r.Stage == message.UpgradeDone:
		return heardGood
	case r.Stage == message.UpgradeRefused && r.Code == message.UpgradeLate:
		return heardLate
	case r.Stage.Ended():
		return heardBad
	}
	return heardStage
}

// maxSaid bounds what of an agent's message is stored, in bytes.
const maxSaid = 200

// hear notes what agents say of their orders.
func (c *Room) hear(ctx context.Context, now time.Time) (open int, err error) {
	var errs []error
	for _, a := range store.Find(c.cfg.Objects, store.AgentsOrdered, store.Any) {
		was := a.Status.Order
		if !was.Open() {
			continue
		}
		open++
		next := c.heard(a.Metadata.Name, *was, now)
		if next == *was {
			continue
		}
		own := store.Copy(c.cfg.Objects, a)
		own.Status.Order = &next
		if err := c.cfg.Objects.Put(ctx, own); err != nil {
			if protocol.CodeOf(err) != protocol.CodeConflict { // the next turn sees what there is
				errs = append(errs, err)
			}
			continue
		}
		c.cfg.Crash.At("hub.upgrade.heard")
		if next.Open() {
			continue
		}
		open--
		result := next.Stage
		if next.Undone {
			result = resultUndone
		}
		c.counts.ended.WithLabelValues(result).Inc()
		c.cfg.Logger.Info("order to upgrade has ended", "agent", a.Metadata.Name, "order", next.ID, "result", result, "code", next.Code, "reason", next.Message)
	}
	return open, errors.Join(errs...)
}

// heard is an open order with what is known of it now.
func (c *Room) heard(agent string, o resource.AgentOrder, now time.Time) resource.AgentOrder {
	r, at, ok := c.cfg.Reports.Agent(agent)
	dark := !ok || now.Sub(at) > reports.DarkAfter
	said := heardBy(&o, r.Upgrade)
	if said != heardNothing && said != heardForgot {
		text := r.Upgrade.Message
		o.Stage, o.Code, o.Message = string(r.Upgrade.Stage), string(r.Upgrade.Code), cut(text, maxSaid)
	}
	switch endRule(said, dark, now.After(o.NotAfter.Add(overdue))) {
	case orderOpen:
		return o
	case orderUndone:
		o.Undone = true
	case orderEnded:
		if said == heardForgot {
			o.Stage, o.Code, o.Message = string(message.UpgradeReturned), string(message.UpgradeBroken), "the agent has no record of it any more"
		}
	}
	o.EndedAt = &now
	return o
}
