package leasing

import "time"

const (
	// OfferHold keeps an offered address for the 60 s that EDK2 tries, and then some.
	OfferHold = 2 * time.Minute
	// DeclineHold is how long an address that a client found in use rests. A day,
	// the habit of others, empties small pools. A machine of ours that would get no
	// address else gets one that rests; over IPv4 after a probe.
	DeclineHold = 15 * time.Minute
	// GuestLease is the lease time of a client that is no machine of ours: it is
	// short, because nobody knows whether it comes back.
	GuestLease = 10 * time.Minute
	// GuestShare is which part of the pool guests may hold: one in so many addresses.
	GuestShare = 2
	// defaultTime is the lease time where the segment says less than a second.
	defaultTime = time.Hour
)

// Time is the lease time of a client, of what its segment says.
func Time(said time.Duration, guest bool) time.Duration {
	if said < time.Second {
		said = defaultTime
	}
	if guest {
		return min(said, GuestLease)
	}
	return said
}
