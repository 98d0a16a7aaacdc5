package link

import (
	"time"

	"rackboot/protocol/message"
)

// eventBatch bounds the events in one message.
const eventBatch = 100

// eventPause is how long a batch waits for its acknowledgement before it is sent
// again.
const eventPause = 2 * time.Second

// backlog sends the events that the hub has not acknowledged, the oldest first. It
// is used by the reports' goroutine only.
type backlog struct {
	session     string
	first, last uint64
	sent        time.Time
}

// send sends the oldest batch, unless just that was sent a moment ago. It returns
// when to look again.
//
// None is sent before the hub has answered: it must know first whether the disk was
// rolled back, because then the numbers were given before, to other events.
func (b *backlog) send(r *Room) time.Duration {
	if !r.session.hasMet() || r.on.guards() {
		return r.cfg.Every // the answer pokes, or the end of guard mode
	}
	waiting, err := r.cfg.Store.Events.Backlog(eventBatch)
	if err != nil {
		r.cfg.Logger.Error("cannot read the events", "err", err)
		return eventPause
	}
	if waiting.Tail == 0 {
		return r.cfg.Every
	}
	session, _ := r.session.names()
	now := r.cfg.Clock()
	first, last := waiting.Events[0].Seq, waiting.Events[len(waiting.Events)-1].Seq
	if b.session == session && b.first == first && b.last == last {
		if rest := eventPause - now.Sub(b.sent); rest > 0 {
			return rest
		}
	}
	b.session, b.first, b.last, b.sent = session, first, last, now
	incarnation, err := r.cfg.Store.Identity.Incarnation()
	if err != nil {
		r.cfg.Logger.Error("cannot read the incarnation", "err", err)
		return eventPause
	}
	r.publish(message.LeafEvent, message.EventBatch{Agent: r.cfg.Agent, Incarnation: incarnation, Session: session, Events: waiting.Events, StoreHead: r.heads.now(r.session.hasMet())})
	return eventPause
}
