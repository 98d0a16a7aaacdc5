package redfish

import (
	"sync"
	"time"

	"rackboot/bmc"
)

// host is one BMC, whatever the systems behind it and the accounts used for it.
type host struct {
	power     *lane // power, boot and polls
	inventory *lane // what takes long; it never delays the others
	breaker   breaker
	users     int // guarded by Dialer.mu

	mu      sync.Mutex
	refused bmc.Credentials
	until   time.Time
}

func (d *Dialer) newHost() *host {
	return &host{power: newLane(d.metrics.waiting), inventory: newLane(d.metrics.waiting)}
}

// refuse remembers that the BMC refused the credentials.
func (h *host) refuse(c bmc.Credentials, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused, h.until = c, until
}

// refusal says how long the credentials must not be tried; 0 if they may be.
func (h *host) refusal(c bmc.Credentials, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused != c {
		return 0
	}
	return max(0, h.until.Sub(now))
}
