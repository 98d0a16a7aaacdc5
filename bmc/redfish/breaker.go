package redfish

import (
	"errors"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// The breaker opens after tripAfter exchanges in a row without an answer, for
// tripPause, which doubles to tripMax with each probe that fails. The longest
// pause is no longer than a slow poll, so that it delays nothing that a poll
// would have noticed.
const (
	tripAfter = 3
	tripPause = time.Second
	tripMax   = 10 * time.Second
)

// breaker spares a dead BMC, and the callers that would wait for it. Any answer,
// an error status too, closes it.
type breaker struct {
	mu       sync.Mutex
	failures int
	last     string // what the last one failed with
	until    time.Time
	probing  bool
}

// pass reports whether a request may be sent now. While the breaker is open one
// request at a time is let through after each pause. An urgent one always is.
func (b *breaker) pass(op string, now time.Time, urgent bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if urgent || b.failures < tripAfter {
		return nil
	}
	wait := b.until.Sub(now)
	if wait <= 0 && !b.probing {
		b.probing = true
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "the BMC is not asked: %w",
		&bmc.Tripped{RetryAfter: max(wait, 0), Failures: b.failures, Last: b.last}).
		WithHint("check the BMC's address, its cable and switch port, and that its web service is on; it is probed by itself")
}

// answered takes the end of an exchange that had an answer.
func (b *breaker) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing, b.failures, b.last = false, 0, ""
}

// failed takes the end of an exchange without an answer.
func (b *breaker) failed(err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing, b.last = false, printable(causeOf(err).Error())
	b.failures++
	if n := b.failures - tripAfter; n >= 0 {
		b.until = now.Add(min(tripPause<<min(n, 10), tripMax))
	}
}

// causeOf is what an error of the driver wraps, or else the error: why nothing came, without the address
// of the BMC, which people are told beside it.
func causeOf(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// skip takes an exchange that did not come to its end for reasons of ours.
func (b *breaker) skip() {
	b.mu.Lock()
	b.probing = false
	b.mu.Unlock()
}
