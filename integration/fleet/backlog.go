package fleet

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

const (
	// maxEvents bounds the events that wait for the hub; one stands for those that were lost.
	maxEvents = 1000
	// eventBatch bounds those in one message, and eventPause is how long it waits to be
	// acknowledged before it is sent again.
	eventBatch = 100
	eventPause = 2 * time.Second
)

// backlog are the events that the hub has not acknowledged, the oldest first.
type backlog struct {
	Last    uint64           `json:"last"` // number that was given
	Waiting []resource.Event `json:"waiting,omitempty"`

	sent    time.Time
	sentTo  string // session
	sentEnd uint64 // number
}

func (b *backlog) add(e resource.Event) {
	b.Last++
	e.Seq = b.Last
	b.Waiting = append(b.Waiting, e)
	if len(b.Waiting) <= maxEvents {
		return
	}
	gap := b.Waiting[1] // becomes the record of both
	from := b.Waiting[0].Seq
	if f := b.Waiting[0].From; f > 0 {
		from = f
	}
	b.Waiting = b.Waiting[1:]
	b.Waiting[0] = resource.Event{At: gap.At, Code: resource.EventLost, From: from, Seq: gap.Seq, Message: fmt.Sprintf("%d events were lost", gap.Seq-from+1)}
}

func (b *backlog) tail() uint64 {
	if len(b.Waiting) == 0 {
		return 0
	}
	return b.Waiting[0].Seq
}

// acknowledged forgets the events up to a number.
func (b *backlog) acknowledged(seq uint64) {
	n := 0
	for n < len(b.Waiting) && b.Waiting[n].Seq <= seq {
		n++
	}
	if b.Waiting = b.Waiting[n:]; len(b.Waiting) == 0 {
		b.Waiting = nil // with what it was cut from
	}
}

// batch is what is to be sent now to a session, if anything, and when to look again.
func (b *backlog) batch(now time.Time, session string) (events []resource.Event, wait time.Duration) {
	if len(b.Waiting) == 0 {
		return nil, never
	}
	events = b.Waiting[:min(len(b.Waiting), eventBatch)]
	end := events[len(events)-1].Seq
	if rest := eventPause - now.Sub(b.sent); b.sentTo == session && b.sentEnd == end && rest > 0 {
		return nil, rest
	}
	b.sent, b.sentTo, b.sentEnd = now, session, end
	return events, eventPause
}
