package link

import (
	"context"
	"fmt"
	"strings"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// eventBatch files an agent's events, then acknowledges them. Events that were
// filed before are acknowledged again.
func (c *hearing) eventBatch(ctx context.Context, a *resource.Agent, m message.EventBatch) error {
	name := a.Metadata.Name
	if !c.cfg.Start.WorksFor(name) {
		return nil // the hub that took over files them
	}
	if copies := c.cfg.Terms.CopiesOf(name); copies.Open() || copies.Shared(m.Incarnation) {
		return nil // the other one gives its events the same numbers
	}
	l, err := c.cfg.Store.Ledgers.Peek(name)
	if err != nil {
		return err
	}
	last := acked(l, m.Incarnation)
	var tail uint64
	c.contacts.with(name, func(k *contact) { tail = k.tail[m.Incarnation] })
	var items []events.Item
	for _, ev := range withGaps(m.Events, last, tail) {
		id := fmt.Sprintf("%s-%s-%d", name, m.Incarnation, ev.Seq)
		if ev.From > 0 {
			id += fmt.Sprintf("-from-%d", ev.From)
		}
		items = append(items, events.Item{Event: api.EventRecord{Event: ev, Agent: name}, ID: id})
		last = ev.Seq
	}
	if err := c.cfg.Events.Add(ctx, items...); err != nil {
		return err
	}
	now, _, err := c.ledgers.change(ctx, name, func(l *store.Ledger) bool {
		if last <= acked(l, m.Incarnation) {
			return false
		}
		forgetIncarnations(*l, m.Incarnation)
		l.Acked[ackPrefix+m.Incarnation] = protocol.Head{Version: last}
		keepsHead(l, m.StoreHead)
		return true
	})
	if err != nil {
		return err
	}
	answer, ok := c.sender.serves(a, m.Session)
	if !ok {
		return nil
	}
	answer.EventsAcked = last
	c.contacts.with(name, func(k *contact) {
		answer.Nonce = k.nonces.of(m.Session)
		if answer.Nonce == "" {
			// A session that this hub has not heard of: it must be greeted.
			answer.Nonce, answer.Again = k.give(m.Session, &now, c.sender.nonce), true
		}
	})
	c.sender.say(name, answer)
	return nil
}

// withGaps are the events of a batch that come after the last one which was filed,
// with a record before each where numbers are missing that no record of the agent
// covers. tail is the first number of a database of which none was filed; 0 is not
// known.
func withGaps(batch []resource.Event, last, tail uint64) (out []resource.Event) {
	next := last + 1
	if last == 0 {
		next = tail
	}
	for _, ev := range batch {
		if ev.Seq <= last {
			continue
		}
		begins := ev.Seq
		if ev.Code == resource.EventLost && ev.From > 0 && ev.From <= ev.Seq {
			begins = ev.From
		} else {
			ev.From = 0
		}
		if next > 0 && begins > next {
			out = append(out, resource.Event{
				From: next, Seq: begins - 1, At: ev.At, Code: resource.EventLost,
				Message: fmt.Sprintf("%d events did not reach the hub", begins-next),
			})
		}
		out = append(out, ev)
		last, next = ev.Seq, ev.Seq+1
	}
	return out
}

// keptIncarnations bounds the databases of one agent whose last event is kept. An
// earlier one's is kept so that a batch of it that comes late is not filed again.
const keptIncarnations = 8

func forgetIncarnations(l store.Ledger, keep string) {
	n := 0
	for k := range l.Acked {
		if strings.HasPrefix(k, ackPrefix) {
			n++
		}
	}
	for k := range l.Acked {
		if n >= keptIncarnations && strings.HasPrefix(k, ackPrefix) && k != ackPrefix+keep {
			delete(l.Acked, k)
			n--
		}
	}
}
