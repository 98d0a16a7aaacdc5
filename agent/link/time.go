package link

import "time"

// Time returns the hub's time, once every document that it has named is in force; zero
// before, and where the time is not known. What may be done once only is not begun by
// documents that the hub has replaced, or, where it lost them, has never heard of.
func (r *Room) Time() time.Time {
	if !r.session.current() {
		return time.Time{}
	}
	return r.clock.now()
}

// Now returns the hub's time, or later; zero if it is not known.
func (r *Room) Now() time.Time { return r.clock.now() }

// Word returns the hub's time by its signed words, never behind it; zero while it is not
// known or its last word is not fresh. words counts them.
func (r *Room) Word() (at time.Time, words uint64) { return r.clock.word() }
