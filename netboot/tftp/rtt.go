package tftp

import "time"

// minResend is the least that a client gets to answer: firmware polls its network card
// every 10 ms and writes to flash in between. It is what TCP of Linux gives.
const minResend = 200 * time.Millisecond

// rtt is how long a client takes to answer (RFC 6298 section 2). The zero value knows
// nothing.
type rtt struct {
	smoothed, variance time.Duration
	known              bool
}

// sample takes one. An answer to what was sent twice is none, because nobody knows which
// it answers (RFC 6298 section 3).
func (r *rtt) sample(took time.Duration) {
	took = max(0, took)
	if !r.known {
		*r = rtt{took, took / 2, true}
		return
	}
	r.variance += ((r.smoothed - took).Abs() - r.variance) / 4
	r.smoothed += (took - r.smoothed) / 8
}

// resend is after how long a window is sent again, for the so-manieth time in a row: at
// most the timer, twice as long each time, and the timer as long as nothing is known.
func (r *rtt) resend(times int, timer time.Duration) time.Duration {
	if !r.known {
		return timer
	}
	span := max(minResend, r.smoothed+4*r.variance)
	for ; times > 0 && span < timer; times-- {
		span *= 2
	}
	return min(span, timer)
}
