package tftp

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// maxWait is how long a request waits without being repeated: EDK2 repeats it after 4 s,
// and who does not has given up.
const maxWait = 10 * time.Second

// book knows the transfers that run, what they hold, and the requests that wait for one to
// end. It is safe for concurrent use; what it keeps is bounded by the transfers that it lets
// in, and by as many that wait.
type book struct {
	limits Limits

	mu       sync.Mutex
	total    int
	clients  map[netip.Addr]int
	peers    map[netip.AddrPort]*entry // the newest of each peer
	buffered int
	line     []*waiter // in the order of asking
	waiting  map[netip.AddrPort]*waiter
}

// waiter is a request that waits for its turn.
type waiter struct {
	transfer *transfer // without an entry yet
	request  string
	asked    time.Time // the last time
}

// entry is a transfer in the book.
type entry struct {
	peer    netip.AddrPort
	request string
	// begun is set once the client has acknowledged something: it has an address that
	// answers, and the transfer is the one that it takes.
	begun atomic.Bool
	held  int // bytes
}

func newBook(l Limits) *book {
	return &book{limits: l, clients: make(map[netip.Addr]int), peers: make(map[netip.AddrPort]*entry), waiting: make(map[netip.AddrPort]*waiter)}
}

// look says what a request finds. It is repeated if the same peer's same request
// has a transfer that waits for the first answer, or waits itself. Once that has come, the
// request is new: a client that starts over may use its port again, and one that does not
// ends the second transfer by ERROR 5 (RFC 1350 section 4).
func (b *book) look(peer netip.AddrPort, request []byte, now time.Time) (repeated bool, r room) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.peers[peer]
	repeated = e != nil && !e.begun.Load() && e.request == string(request)
	for len(b.line) > 0 && now.Sub(b.line[0].asked) > maxWait {
		b.first()
	}
	w := b.waiting[peer]
	if w != nil && w.request == string(request) {
		w.asked, repeated = now, true
	}
	switch {
	case w != nil: // it asks for something else by now, in the same place of the line
		r = roomTotal
	case b.clients[peer.Addr()] >= b.limits.PerClient:
		r = roomClient
	case b.total < b.limits.Transfers && len(b.line) == 0:
		r = roomFree
	case len(b.line) < b.limits.Transfers:
		r = roomTotal
	default:
		r = roomFull
	}
	return repeated, r
}

// wait has a request wait for its turn, in the place of the one that its peer has in line.
func (b *book) wait(t *transfer, request []byte, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	peer := t.parties.remote
	w := b.waiting[peer]
	if w == nil {
		w = &waiter{}
		b.line = append(b.line, w)
		b.waiting[peer] = w
		b.clients[peer.Addr()]++
	}
	*w = waiter{transfer: t, request: string(request), asked: now}
}

// first takes the first one out of the line. The caller holds mu.
func (b *book) first() *waiter {
	w := b.line[0]
	b.line[0] = nil
	b.line = b.line[1:]
	delete(b.waiting, w.transfer.parties.remote)
	b.gone(w.transfer.parties.remote.Addr())
	return w
}

// turn takes up the transfer of the request that waits longest, if there is room for one
// and its client still asks; nil if there is none.
func (b *book) turn(now time.Time) *transfer {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.line) > 0 && b.total < b.limits.Transfers {
		if w := b.first(); now.Sub(w.asked) <= maxWait {
			w.transfer.entry = b.add(w.transfer.parties.remote, w.request)
			return w.transfer
		}
	}
	return nil
}

// dismiss forgets all that wait: the server stops.
func (b *book) dismiss() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.line) > 0 {
		b.first()
	}
}

// enter takes a transfer up.
func (b *book) enter(peer netip.AddrPort, request []byte) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.add(peer, string(request))
}

// add is enter; the caller holds mu.
func (b *book) add(peer netip.AddrPort, request string) *entry {
	e := &entry{peer: peer, request: request}
	b.total++
	b.clients[peer.Addr()]++
	b.peers[peer] = e
	return e
}

// leave forgets a transfer and what it held.
func (b *book) leave(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total--
	b.buffered -= e.held
	b.gone(e.peer.Addr())
	if b.peers[e.peer] == e {
		delete(b.peers, e.peer)
	}
}

// gone counts a transfer or a request of a client less. The caller holds mu.
func (b *book) gone(client netip.Addr) {
	if b.clients[client]--; b.clients[client] == 0 {
		delete(b.clients, client)
	}
}

// free is how many bytes may be held on top.
func (b *book) free() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limits.Buffered - b.buffered
}

// hold takes n bytes for a transfer, if there are as many.
func (b *book) hold(e *entry, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limits.Buffered-b.buffered {
		return false
	}
	b.buffered += n
	e.held += n
	return true
}

// inFlight is how many transfers run, and the bytes that they hold.
func (b *book) inFlight() (transfers, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total, b.buffered
}

// inLine is how many requests wait for their turn.
func (b *book) inLine() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.line)
}
