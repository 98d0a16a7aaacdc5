package events

import (
	"context"
	"sort"
)

// place is where in the log an event is: the Index of the first event of a record, and its Seq.
type place struct{ index, seq uint64 }

// places are those of the records whose events are kept for printing, in their order.
type places []place

// find is the Seq of the record that has an event; false where it may be in one before.
func (p places) find(index uint64) (seq uint64, known bool) {
	i := sort.Search(len(p), func(i int) bool { return p[i].index > index })
	if i == 0 {
		return 0, false
	}
	return p[i-1].seq, true
}

// from keeps those of the records from an event on.
func (p places) from(index uint64) places {
	i := sort.Search(len(p), func(i int) bool { return p[i].index > index })
	return append(places(nil), p[max(i, 1)-1:]...)
}

// seqOf is the Seq from which on the log has what was filed after an Index. What is not kept for printing is looked for,
// with some 20 reads in a long log.
func (l *Log) seqOf(ctx context.Context, after uint64) (uint64, error) {
	l.mu.RLock()
	newest, at := l.filed, l.at
	seq, known := l.places.find(after + 1)
	first := at + 1
	if len(l.places) > 0 {
		first = l.places[0].seq
	}
	l.mu.RUnlock()
	switch {
	case after >= newest:
		return at + 1, nil
	case known:
		return seq, nil
	}
	low := uint64(1)
	for low < first {
		middle := low + (first-low)/2
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, middle, 1)
		if err != nil {
			return 0, err
		}
		if len(records) == 0 {
			first = middle
			continue
		}
		g, err := groupOf(records[0])
		switch {
		case err != nil:
			return 0, err
		case g.last() <= after:
			low = records[0].Seq + 1
		default:
			first = middle
		}
	}
	return first, nil
}
