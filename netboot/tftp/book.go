package tftp

import (
	"net/netip"
	"sync"
	"sync/atomic"
)

// book knows the transfers that run, and what they hold. It is safe for
// concurrent use; what it keeps is bounded by the transfers that it lets in.
type book struct {
	limits Limits

	mu       sync.Mutex
	total    int
	clients  map[netip.Addr]int
	peers    map[netip.AddrPort]*entry // the newest of each peer
	buffered int
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
	return &book{limits: l, clients: make(map[netip.Addr]int), peers: make(map[netip.AddrPort]*entry)}
}

// look says what a request finds. It is repeated if the same peer's same request
// has a transfer that waits for the first answer. Once that has come, the request
// is new: a client that starts over may use its port again, and one that does not
// ends the second transfer by ERROR 5 (RFC 1350 section 4).
func (b *book) look(peer netip.AddrPort, request []byte) (repeated bool, r room) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.peers[peer]
	repeated = e != nil && !e.begun.Load() && e.request == string(request)
	switch {
	case b.clients[peer.Addr()] >= b.limits.PerClient:
		r = roomClient
	case b.total >= b.limits.Transfers:
		r = roomTotal
	default:
		r = roomFree
	}
	return repeated, r
}

// enter takes a transfer up.
func (b *book) enter(peer netip.AddrPort, request []byte) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &entry{peer: peer, request: string(request)}
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
	if b.clients[e.peer.Addr()]--; b.clients[e.peer.Addr()] == 0 {
		delete(b.clients, e.peer.Addr())
	}
	if b.peers[e.peer] == e {
		delete(b.peers, e.peer)
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
