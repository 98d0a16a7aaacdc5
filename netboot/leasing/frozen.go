package leasing

import (
	"container/list"
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	// FreezeFor outlives the exchange of one boot attempt: the 60 s of EDK2's four DISCOVER
	// tries.
	FreezeFor = 2 * time.Minute
	freezeMax = 4096 // entries of machines of ours; the oldest goes first
	// freezeGuests is the same of clients that are none: they have room of their own,
	// so that a flood of them cannot push out what a machine of ours was promised.
	freezeGuests = 512
)

// exchange is one client; xid is that of DHCPv4, where all messages of an exchange have
// the same.
type exchange struct {
	client      string
	class       protocol.ClientClass
	xid         uint32
	information bool
}

type freezeEntry struct {
	key    exchange
	xid    uint32
	answer protocol.BootAnswer
	until  time.Time
}

// frozen keeps the answer of each client's running exchange. In DHCPv6 SOLICIT and REQUEST
// of one exchange have different transaction IDs (RFC 8415 section 16.1), so that what
// follows a SOLICIT has its answer whatever its own ID, and the next SOLICIT with
// another ID begins a new exchange.
type frozen struct {
	mu      sync.Mutex
	limit   int
	entries map[exchange]*list.Element
	order   list.List // of *freezeEntry, the oldest first
}

func newFrozen(limit int) *frozen {
	return &frozen{limit: limit, entries: make(map[exchange]*list.Element)}
}

// get returns the answer of a running exchange; first says that the message would
// begin one.
func (f *frozen) get(k exchange, xid uint32, first bool, now time.Time) (protocol.BootAnswer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.valid(k, xid, first, now); ok {
		return e.answer, true
	}
	return protocol.BootAnswer{}, false
}

func (f *frozen) valid(k exchange, xid uint32, first bool, now time.Time) (*freezeEntry, bool) {
	el, ok := f.entries[k]
	if !ok {
		return nil, false
	}
	e := el.Value.(*freezeEntry)
	return e, now.Before(e.until) && (!first || e.xid == xid)
}

// put keeps the answer unless the exchange has one that is still valid, which it
// returns: the first of two concurrent messages decides.
func (f *frozen) put(k exchange, xid uint32, first bool, a protocol.BootAnswer, now time.Time) protocol.BootAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.valid(k, xid, first, now); ok {
		return e.answer
	}
	f.remove(f.entries[k])
	for oldest := f.order.Front(); oldest != nil; oldest = f.order.Front() {
		if e := oldest.Value.(*freezeEntry); f.order.Len() < f.limit && now.Before(e.until) {
			break
		}
		f.remove(oldest)
	}
	f.entries[k] = f.order.PushBack(&freezeEntry{key: k, xid: xid, answer: a, until: now.Add(FreezeFor)})
	return a
}

// forget drops the client's answer.
func (f *frozen) forget(k exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(f.entries[k])
}

func (f *frozen) remove(el *list.Element) {
	if el == nil {
		return
	}
	delete(f.entries, el.Value.(*freezeEntry).key)
	f.order.Remove(el)
}

func (f *frozen) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries)
}
