package tftp

import "time"

// slack is what a client may take on top of two round trips, before a stop that
// it spoke of counts as a loss.
const slack = 10 * time.Millisecond

// flow says which blocks are to be sent. Blocks are numbered from 1 without
// rollover.
//
// A client says an ACK at the end of a window. EDK2 says one as well for each block
// that it did not expect, with the number of the last that it has, and then counts
// a new window from there; RFC 7440 section 4 lets it. Such an ACK means a block
// that is lost, or one that came twice. If each of them were answered by a window,
// one repeated block would repeat every block from then on: the sorcerer's
// apprentice (RFC 1123 section 4.2.3.1). So what an ACK does depends on what it can
// be about:
//
//	number                 | window has repeats | what is sent
//	last of the window     | any                | the next window
//	within the window      | no                 | the window that begins after it
//	within the window      | yes                | what is missing of that window, and nothing again
//	of the base            | any                | nothing
//	other                  | any                | nothing
//
// Where nothing or only what is missing was sent, there may have been a loss all the
// same: without news within two round trips the window is sent again, once. In
// lockstep, where a window is one block, a repeated ACK never causes anything.
type flow struct {
	window int64
	total  int64 // blocks of the file

	base  int64 // blocks that the client has
	sent  int64 // blocks that were sent at least once
	again int64 // the end of the last window that has blocks which were sent before
	next  int64 // the next block to send, where it is not the one after base

	at    time.Time     // when was last sent
	trip  time.Duration // the last round trip
	rtt   rtt           // and those before
	hurry time.Time     // when to send again before the timer; zero for never
	spent bool          // hurry was used, and no news came since
}

// due is what to send now, and how much of it was sent before.
func (f *flow) due(now time.Time) (first, last, again int64) {
	first, last = max(f.next, f.base+1), f.end()
	f.next = 0
	if again = max(0, min(f.sent, last)-first+1); again > 0 {
		f.again = last
	}
	f.sent = max(f.sent, last)
	f.at = now
	return first, last, again
}

// acked takes the number of an ACK, and says whether it is news.
func (f *flow) acked(n uint16, now time.Time) bool {
	ahead := int64(n - uint16(f.base)) // in 16 bits: numbers roll over to 0
	switch {
	case ahead > f.sent-f.base:
		return false
	case ahead == 0:
		if f.window > 1 && !f.spent && f.hurry.IsZero() {
			f.hurry = now.Add(2*f.trip + slack)
		}
		return false
	}
	repeats := f.again > f.base
	f.base += ahead
	f.hurry, f.spent = time.Time{}, false
	switch {
	case f.base == f.sent:
		if !repeats {
			f.answered(now)
		}
	case repeats:
		f.next = f.sent + 1
		f.hurry = now.Add(2*f.trip + slack)
	}
	return true
}

// answered notes a round trip of what was sent once.
func (f *flow) answered(now time.Time) {
	f.trip = now.Sub(f.at)
	f.rtt.sample(f.trip)
}

// end is the last block that may be sent now.
func (f *flow) end() int64 { return min(f.base+f.window, f.total) }

// late says that the time which ran out is that of hurry.
func (f *flow) late() bool {
	if f.hurry.IsZero() {
		return false
	}
	f.hurry, f.spent = time.Time{}, true
	return true
}
