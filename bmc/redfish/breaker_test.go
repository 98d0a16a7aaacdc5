package redfish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

var errNone = protocol.Errorf(protocol.CodeUnavailable, "op", "BMC https://bmc cannot be reached: %w", errors.New("no route"))

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b breaker
		pass := func(want time.Duration) {
			t.Helper()
			err := b.pass("op", time.Now(), false)
			var tripped *bmc.Tripped
			if open := errors.As(err, &tripped); open != (want >= 0) {
				t.Fatalf("open is %v: %v", open, err)
			}
			if tripped == nil {
				return
			}
			if tripped.RetryAfter != want || protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" || tripped.Last != "no route" {
				t.Errorf("%v, want %s", err, want)
			}
		}
		for range tripAfter {
			pass(-1)
			b.failed(errNone, time.Now())
		}
		pass(tripPause)
		if b.pass("op", time.Now(), true) != nil {
			t.Error("ForceOff is not let through")
		}
		for wait := tripPause; wait < tripMax; wait = min(2*wait, tripMax) {
			time.Sleep(wait)
			pass(-1) // the probe
			pass(0)  // and nobody else
			b.failed(errNone, time.Now())
			pass(min(2*wait, tripMax))
		}
		time.Sleep(tripMax)
		pass(-1)
		b.skip() // the caller gave up: the next one probes
		pass(-1)
		b.answered()
		pass(-1)
		pass(-1)
	})
}

// Two failures, an answer, two failures: closed all the time.
func TestBreakerCountsInARow(t *testing.T) {
	var b breaker
	for range 3 {
		for range tripAfter - 1 {
			b.failed(errNone, time.Now())
		}
		b.answered()
	}
	if err := b.pass("op", time.Now(), false); err != nil {
		t.Error(err)
	}
}
