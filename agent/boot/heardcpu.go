package boot

import (
	"slices"
	"sync/atomic"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// heardCPU is the architecture that a server's firmware said of itself last. It is safe for concurrent
// use.
type heardCPU struct{ is atomic.Pointer[string] }

func (h *heardCPU) last() string {
	if h == nil {
		return ""
	}
	if is := h.is.Load(); is != nil {
		return *is
	}
	return ""
}

// hear takes over what a boot client says of the one server that it may be. It needs x.mu.
func (x *Index) hear(server string, c protocol.BootClient) {
	e := x.servers[server]
	if is := decide.Hears(slices.Contains(x.byMAC[c.MAC], server), e.system(), c); is != "" {
		e.heard.is.Store(&is)
	}
}

// heardOf is the architecture that a server's firmware said last; empty is nothing.
func (x *Index) heardOf(server string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.servers[server].heard.last()
}

// cpu is the architecture of a server: what somebody knows, else what its firmware says. What an order
// boots is always of the first: the hub makes none for a server of which it is not known.
func (e indexed) cpu() string {
	if e.architecture == "" {
		return e.heard.last()
	}
	return e.architecture
}
