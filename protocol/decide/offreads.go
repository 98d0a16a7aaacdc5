package decide

import "time"

// ReadSpan is when a read was sent and answered, by the clock of Snapshot.Uptime.
type ReadSpan struct{ Sent, Answered time.Duration }

// OffReads are reads of Off: how many, the last of them, and what the quickest took.
type OffReads struct {
	Reads    int
	Last     ReadSpan
	Quickest time.Duration
}

// unread is how long at a moment it is since the last read of Off was sent; zero before any.
func (r OffReads) unread(at time.Duration) time.Duration {
	if r.Reads == 0 {
		return 0
	}
	return at - r.Last.Sent
}

// next adds a read.
func (r OffReads) next(s ReadSpan) OffReads {
	took := max(s.Answered-s.Sent, 0)
	if r.Reads > 0 {
		took = min(took, r.Quickest)
	}
	return OffReads{Reads: r.Reads + 1, Last: s, Quickest: took}
}
