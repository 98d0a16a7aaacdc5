package main

// attempts is how often a rate may fail.
const attempts = 3

// search finds the highest rate that a server keeps up with, in a bounded number of
// tries. A rate counts as too high when it failed so many times: the machine may have
// been busy with something else.
type search struct {
	low, high int // the highest rate that was good, the lowest that was not; 0 for none
	limit     int
	left      int     // halvings
	failed    int     // at this rate, so far
	best      float64 // what was served at the highest good rate, per second
	limited   bool    // the generator could not ask faster
	first     int
}

func newSearch(first, limit, halvings int) *search {
	return &search{first: first, limit: limit, left: halvings}
}

// next is the rate to try; more is false at the end.
func (s *search) next() (rate int, more bool) {
	switch {
	case s.limited, s.high != 0 && s.left <= 0, s.low >= s.limit:
		return 0, false
	case s.low == 0 && s.high == 0:
		return s.first, true
	case s.high == 0:
		return min(2*s.low, s.limit), true
	}
	return (s.low + s.high) / 2, true
}

// tried says what came of a rate: served is what was seen, good whether little
// enough was lost, slow whether the generator did not reach the rate.
func (s *search) tried(rate int, served float64, good, slow bool) {
	switch {
	case good:
		s.best, s.limited = max(s.best, served), slow
		if s.high != 0 {
			s.left--
		}
		s.low, s.failed = rate, 0
	case s.failed+1 < attempts:
		s.failed++
	default:
		if s.high != 0 {
			s.left--
		}
		s.high, s.failed = rate, 0
	}
}
