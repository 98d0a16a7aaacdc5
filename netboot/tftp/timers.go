package tftp

import (
	"container/heap"
	"time"
)

// alarm is when a transfer is to be looked at.
type alarm struct {
	at    time.Time // zero for never
	key   time.Time // by which it is queued, which is not later than at
	place int       // in the queue; -1 is nowhere
}

// timers are the alarms of a carrier's transfers. An alarm that is put off, as each answer
// of a client does, stays where it is queued: it is looked at too early once, and queued
// anew. The zero value is empty.
type timers struct{ queue alarms }

// set sets the alarm of a transfer.
func (t *timers) set(of *transfer, at time.Time) {
	a := &of.alarm
	a.at = at
	switch {
	case a.place < 0:
		a.key = at
		heap.Push(&t.queue, of)
	case at.Before(a.key):
		a.key = at
		heap.Fix(&t.queue, a.place)
	}
}

// unset takes a transfer's alarm away.
func (t *timers) unset(of *transfer) {
	if of.alarm.place >= 0 {
		heap.Remove(&t.queue, of.alarm.place)
	}
}

// due is a transfer whose alarm is over, and has none then; nil if there is none.
func (t *timers) due(now time.Time) *transfer {
	for len(t.queue) > 0 && !t.queue[0].alarm.key.After(now) {
		of := t.queue[0]
		if of.alarm.at.After(now) { // it was put off
			of.alarm.key = of.alarm.at
			heap.Fix(&t.queue, 0)
			continue
		}
		heap.Pop(&t.queue)
		return of
	}
	return nil
}

// next is when to ask for what is due; zero without alarms.
func (t *timers) next() time.Time {
	if len(t.queue) == 0 {
		return time.Time{}
	}
	return t.queue[0].alarm.key
}

// alarms is a heap by key.
type alarms []*transfer

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].alarm.key.Before(a[j].alarm.key) }

func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].alarm.place, a[j].alarm.place = i, j
}

// Push is for heap.
func (a *alarms) Push(x any) {
	of := x.(*transfer)
	of.alarm.place = len(*a)
	*a = append(*a, of)
}

// Pop is for heap.
func (a *alarms) Pop() any {
	last := len(*a) - 1
	of := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	of.alarm.place = -1
	return of
}
