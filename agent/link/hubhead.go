package link

import (
	"bytes"
	"sync"

	"rackboot/agent/store"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// hubHeads is what the hub said of its store: what was kept, and whether the present hub has less. It is
// safe for concurrent use.
type hubHeads struct {
	store *store.Store

	mu     sync.Mutex
	sealed []byte // that was kept
	head   message.HubHead
	behind bool
}

// newHubHeads reads what was kept. open opens a sealed word; of one that was signed by a key that counts no
// more nothing is known.
func newHubHeads(s *store.Store, open func(sealed []byte) (message.HubHead, error)) (*hubHeads, error) {
	h := &hubHeads{store: s}
	sealed, err := s.Term.HubHead()
	if err != nil || len(sealed) == 0 {
		return h, err
	}
	h.sealed = sealed
	if head, err := open(sealed); err == nil {
		h.head = head
	}
	return h, nil
}

// kept is what was kept.
func (h *hubHeads) kept() (sealed []byte, head message.HubHead) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sealed, h.head
}

// keep keeps the word of a hub that is followed.
func (h *hubHeads) keep(sealed []byte, head message.HubHead) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.behind = false
	if head.Store == "" || bytes.Equal(sealed, h.sealed) {
		return nil
	}
	if err := h.store.Term.KeepHubHead(sealed); err != nil {
		return err
	}
	h.sealed, h.head = sealed, head
	return nil
}

// fallsBehind notes that the hub has less than it said: it ends nothing here until it has all of it.
func (h *hubHeads) fallsBehind() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.behind = true
}

// isBehind reports whether documents of the hub count for nothing now.
func (h *hubHeads) isBehind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.behind
}

// openHubHead opens the hub's sealed word on its store.
func openHubHead(v *wire.Verifier, sealed []byte) (m message.HubHead, err error) {
	if len(sealed) == 0 {
		return m, nil
	}
	return m, wire.Open(v, wire.FactHubHead, sealed, &m)
}
