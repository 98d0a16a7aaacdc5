package dhcp

import (
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	// freezeFor outlives the 60 s of EDK2's four DISCOVER tries.
	freezeFor = 2 * time.Minute
	freezeMax = 4096 // entries of machines of ours; the oldest goes first
	// freezeGuests is the same of clients that are none: they have room of their own,
	// so that a flood of them cannot push out what a machine of ours was promised.
	freezeGuests = 512
)

type freezeKey struct {
	mac   string
	xid   uint32
	class protocol.ClientClass
}

type freezeEntry struct {
	answer protocol.BootAnswer
	until  time.Time
}

// frozen keeps the answers of running exchanges. All entries live equally long,
// so that the order of insertion is the order of expiry.
type frozen struct {
	mu      sync.Mutex
	limit   int
	entries map[freezeKey]freezeEntry
	order   []freezeKey
}

func newFrozen(limit int) *frozen {
	return &frozen{limit: limit, entries: make(map[freezeKey]freezeEntry)}
}

func (f *frozen) get(k freezeKey, now time.Time) (protocol.BootAnswer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.entries[k]
	if !ok || !now.Before(e.until) {
		return protocol.BootAnswer{}, false
	}
	return e.answer, true
}

// put keeps the answer unless the exchange has one that is still valid, which it
// returns: the first of two concurrent packets decides.
func (f *frozen) put(k freezeKey, a protocol.BootAnswer, now time.Time) protocol.BootAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.entries[k]; ok && now.Before(e.until) {
		return e.answer
	}
	for len(f.order) > 0 && (len(f.order) >= f.limit || !now.Before(f.entries[f.order[0]].until)) {
		delete(f.entries, f.order[0])
		f.order = f.order[1:]
	}
	f.entries[k] = freezeEntry{answer: a, until: now.Add(freezeFor)}
	f.order = append(f.order, k)
	return a
}
