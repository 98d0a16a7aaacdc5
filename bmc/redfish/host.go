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
