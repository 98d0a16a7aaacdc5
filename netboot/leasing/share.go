package leasing

import (
	"hash/maphash"
	"time"
)

const (
	// share is how many packets of one Asker are taken in a second in which the queue is half
	// full: more than a client sends that gets no answers (RFC 2131 section 4.1, RFC 8415 section
	// 15: one in a second, then fewer).
	share = 8
	// sharers is how many are remembered, those of the last packets.
	sharers = 4096
)

// Asker is who sent a packet and what for, as far as the first look tells. The zero Asker is
// somebody of whom it does not.
type Asker struct {
	Client [16]byte
	Kind   byte // of message
}

// shares keep one client from the half of a queue that the others need. Who answers each packet in
// turn lets the machine wait that sends one in a second, behind a neighbour's ten thousand. It is not
// safe for concurrent use.
type shares struct {
	seed  maphash.Seed
	slots []taken
}

// taken is what was taken of an Asker in a second.
type taken struct {
	of     Asker
	second int64
	count  int
}

func newShares() *shares {
	return &shares{seed: maphash.MakeSeed(), slots: make([]taken, sharers)}
}

// allow counts a packet and reports whether its sender has not had its share. Of two that fall on one
// slot the later one is remembered: strangers' packets may lift a limit, and never use up another's share.
func (s *shares) allow(a Asker, at time.Time) bool {
	if a == (Asker{}) {
		return true
	}
	slot := &s.slots[maphash.Comparable(s.seed, a)%sharers]
	if now := at.Unix(); slot.of != a || slot.second != now {
		*slot = taken{of: a, second: now}
	}
	slot.count++
	return slot.count <= share
}
