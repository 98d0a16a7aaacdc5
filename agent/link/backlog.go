package link

import (
	"time"

	"rackboot/protocol/message"
)

// eventBatch bounds the events in one message.
const eventBatch = 100

// eventPause is how long a batch waits for its acknowledgement before it is sent again, at first; eventPauseMax is the
// longest that it waits.
const (
	eventPause    = 2 * time.Second
	eventPauseMax = 32 * time.Second
)

// backlog sends the events that the hub has not acknowledged, the oldest first. It
// is used by the reports' goroutine only.
type backlog struct{ pace pace }

// pace says when events are sent: one batch at a time is under way, and what comes meanwhile waits for its
// acknowledgement. A hub that is behind would otherwise be sent the same events with each new one, and be further behind.
// What has to be sent again waits twice as long each time, and what comes after it begins with that (RFC 6298, §5.5 and §5.7).
type pace struct {
	session string
	first   uint64 // of the batch that is under way
	sent    time.Time
	pause   time.Duration
	again   bool // it was sent more than once
}

// wait is how long a batch that begins with an event waits before it is sent; zero is now.
func (p *pace) wait(session string, first uint64, now time.Time) time.Duration {
	if p.session != session || p.first != first {
		return 0
	}
	return max(0, p.pause-now.Sub(p.sent))
}

// goes notes that it is sent, and returns how long it may take.
func (p *pace) goes(session string, first uint64, now time.Time) time.Duration {
	switch {
	case p.session != session:
		p.pause, p.again = eventPause, false
	case p.first == first:
		p.pause, p.again = min(2*p.pause, eventPauseMax), true
	default: // the one before was acknowledged
		if !p.again {
			p.pause = max(p.pause/2, eventPause)
		}
		p.again = false
	}
	p.session, p.first, p.sent = session, first, now
	return p.pause
}

// send sends the oldest batch, unless one that begins as it does is under way. It returns when to look again.
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
	first := waiting.Events[0].Seq
	if rest := b.pace.wait(session, first, now); rest > 0 {
		return rest
	}
	pause := b.pace.goes(session, first, now)
	incarnation, err := r.cfg.Store.Identity.Incarnation()
	if err != nil {
		r.cfg.Logger.Error("cannot read the incarnation", "err", err)
		return eventPause
	}
	r.publish(message.LeafEvent, message.EventBatch{Agent: r.cfg.Agent, Incarnation: incarnation, Session: session, Events: waiting.Events, StoreHead: r.heads.now(r.session.hasMet())})
	return pause
}
