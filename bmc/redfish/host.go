package redfish

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
)

// host is one BMC, whatever the systems behind it and the accounts used for it.
type host struct {
	power     *lane // power, boot and polls
	inventory *lane // what takes long; it never delays the others
	breaker   breaker
	users     int // guarded by Dialer.mu

	mu      sync.Mutex
	refused map[bmc.Credentials]time.Time // until when they are not tried
	only    string                        // the system that was chosen where nobody named one; drivers come and go
	doubt   time.Time                     // since when a system is unread that may be that one; zero if none is
}

func newHost(waiting prometheus.Gauge) *host {
	return &host{power: newLane(waiting), inventory: newLane(waiting)}
}

// refuse remembers that the BMC refused the credentials.
func (h *host) refuse(c bmc.Credentials, until, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.refused, func(_ bmc.Credentials, until time.Time) bool { return !until.After(now) })
	if h.refused == nil {
		h.refused = make(map[bmc.Credentials]time.Time)
	}
	h.refused[c] = until
}

// forgive lets the credentials be tried again.
func (h *host) forgive(c bmc.Credentials) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.refused, c)
}

// refusal says how long the credentials must not be tried; 0 if they may be.
func (h *host) refusal(c bmc.Credentials, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	until, ok := h.refused[c]
	if !ok {
		return 0
	}
	return max(0, until.Sub(now))
}

// chosen is the system that was chosen as the only one; empty if none was.
func (h *host) chosen() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.only
}

// choose keeps which system is the only one; empty forgets it.
func (h *host) choose(uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.only = uri
}

// doubted notes whether a system is unread that may be the host, and says for how long one has
// been.
func (h *host) doubted(unread bool, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !unread:
		h.doubt = time.Time{}
	case h.doubt.IsZero():
		h.doubt = now
	}
	if h.doubt.IsZero() {
		return 0
	}
	return now.Sub(h.doubt)
}
