package httpboot

import (
	"net/netip"
	"sync"
)

// clients counts what each client has open, so that one that misbehaves takes
// nothing from the others. It forgets a client that has nothing open: its size is
// bounded by what it counts. It is safe for concurrent use.
type clients struct {
	max  int
	mu   sync.Mutex
	open map[netip.Addr]int
}

func newClients(limit int) *clients { return &clients{max: limit, open: make(map[netip.Addr]int)} }

// enter counts one more for a client, unless it has as many as it may. An address
// that is not known (a test's pipe) counts like one client.
func (c *clients) enter(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client] >= c.max {
		return false
	}
	c.open[client]++
	return true
}

func (c *clients) leave(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client]--; c.open[client] <= 0 {
		delete(c.open, client)
	}
}
