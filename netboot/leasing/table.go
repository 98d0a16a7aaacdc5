package leasing

import (
	"iter"
	"net/netip"
	"sync"
	"time"
)

// State is how an address is held.
type State int

// The states of addresses.
const (
	Offered  State = iota // held in memory only
	Leased                // on disk too
	Released              // free, but remembered for its client
	Declined              // belongs to nobody until it expires
	Leaving               // its client has it no more, and its lease is being deleted
)

// Binding is one address and the client that has it or had it last. Own is what one version
// of DHCP keeps besides.
type Binding[T any] struct {
	Client  string // what the server knows it by
	Server  string // empty for offers
	Addr    netip.Addr
	State   State
	Expires time.Time
	Guest   bool      // the client is no machine of ours
	Given   time.Time // when the client was told the address last, in this run
	Own     T
}

// Taken reports whether nobody but its client may have the address now.
func (b *Binding[T]) Taken(now time.Time) bool {
	return b.State != Released && now.Before(b.Expires)
}

// Table has the bindings of a segment. Expired and released ones are remembered, so that a
// client gets its old address while nobody else needed it. Its lock guards its maps too,
// and all that is in them.
type Table[T any] struct {
	sync.Mutex
	ByClient map[string]*Binding[T] // offered, leased and released ones
	ByAddr   map[netip.Addr]*Binding[T]
}

// NewTable makes an empty one.
func NewTable[T any]() *Table[T] {
	return &Table[T]{ByClient: make(map[string]*Binding[T]), ByAddr: make(map[netip.Addr]*Binding[T])}
}

// Tenant is the binding of the client that an address is leased to now.
func (t *Table[T]) Tenant(a netip.Addr, now time.Time) (b Binding[T], ok bool) {
	t.Lock()
	defer t.Unlock()
	if at := t.ByAddr[a]; at != nil && at.State == Leased && at.Taken(now) {
		return *at, true
	}
	return b, false
}

// Address is the address that the client holds now; the zero Addr if none.
func (t *Table[T]) Address(client string, now time.Time) netip.Addr {
	t.Lock()
	defer t.Unlock()
	if b := t.ByClient[client]; b != nil && b.Taken(now) {
		return b.Addr
	}
	return netip.Addr{}
}

// Left frees an address whose lease was deleted.
func (t *Table[T]) Left(a netip.Addr) {
	t.Lock()
	defer t.Unlock()
	if b := t.ByAddr[a]; b != nil && b.State == Leaving {
		delete(t.ByAddr, a)
	}
}

// Count counts the bindings in a state that has not ended.
func (t *Table[T]) Count(s State, now time.Time) int {
	t.Lock()
	defer t.Unlock()
	n := 0
	for _, b := range t.ByAddr {
		if b.State == s && now.Before(b.Expires) {
			n++
		}
	}
	return n
}

// Holding is what the table knows of an address from the view of one client.
type Holding string

// What a claim to an address can be.
const (
	HoldNothing Holding = "nothing" // neither the client nor the address has a binding
	HoldSame    Holding = "same"    // the address is, or was last, the client's
	HoldOther   Holding = "other"   // the client's address is another one
	HoldForeign Holding = "foreign" // somebody else has the address now, or it rests
)

// Look compares a client's claim to an address with the bindings. vacant says that nobody
// else has it. The caller has the lock.
func (t *Table[T]) Look(client string, a netip.Addr, vacant bool, now time.Time) Holding {
	switch b := t.ByClient[client]; {
	case b != nil && b.Addr == a:
		return HoldSame
	case b != nil && b.Taken(now):
		return HoldOther
	case !vacant:
		return HoldForeign
	}
	return HoldNothing
}

// Free finds an address among those that the client may have: the first one that nobody
// remembers; if all are remembered, the one that has been free for longest, those of guests
// first. A guest gets none that is remembered for a machine of ours. rested lets the client have
// the one that has rested for longest, before it gets none. The caller has the lock.
func (t *Table[T]) Free(candidates iter.Seq[netip.Addr], guest, rested bool, now time.Time) (netip.Addr, bool) {
	var best, resting *Binding[T]
	for a := range candidates {
		b := t.ByAddr[a]
		switch {
		case b == nil:
			return a, true
		case b.State == Declined && b.Taken(now):
			if resting == nil || b.Expires.Before(resting.Expires) {
				resting = b
			}
		case b.Taken(now), guest && !b.Guest && b.State != Declined:
		case best == nil, b.Guest && !best.Guest, b.Guest == best.Guest && b.Expires.Before(best.Expires):
			best = b
		}
	}
	if best == nil && rested {
		best = resting
	}
	if best == nil {
		return netip.Addr{}, false
	}
	return best.Addr, true
}
