package redfish

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// The queue in front of a BMC is bounded, and a caller's deadline ends its wait.
func TestLaneIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gauge := newMetrics().waiting
		l := newLane(gauge)
		leave, err := l.enter(t.Context(), "op", false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range maxWaiting {
			go func() {
				if _, err := l.enter(ctx, "op", false); protocol.CodeOf(err) != protocol.CodeUnavailable {
					t.Errorf("waiting ended with %v", err)
				}
			}()
		}
		synctest.Wait()
		if _, err := l.enter(t.Context(), "op", false); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("one more may wait: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		leave()
		leave, err = l.enter(t.Context(), "op", false)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	})
}

func TestRefusalIsPerCredentials(t *testing.T) {
	l := &host{}
	now := time.Now()
	old, renewed := bmc.Credentials{Username: "u", Password: "old"}, bmc.Credentials{Username: "u", Password: "new"}
	l.refuse(old, now.Add(time.Minute), now)
	if got := l.refusal(old, now); got != time.Minute {
		t.Errorf("refused for %s", got)
	}
	if l.refusal(renewed, now) != 0 || l.refusal(old, now.Add(time.Minute)) != 0 {
		t.Error("refused too much")
	}
	l.refuse(renewed, now.Add(time.Hour), now)
	if l.refusal(old, now) != time.Minute { // two wrong accounts do not take turns
		t.Error("the first refusal is forgotten")
	}
	l.refuse(renewed, now.Add(time.Hour), now.Add(time.Minute))
	if len(l.refused) != 1 {
		t.Errorf("%d refusals are kept", len(l.refused))
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := map[string]time.Duration{
		"":                              0,
		"30":                            30 * time.Second,
		"-1":                            0,
		"soon":                          0,
		"Fri, 20 Nov 2026 10:01:00 GMT": time.Minute,
		"Fri, 20 Nov 2026 09:00:00 GMT": 0,
	}
	for value, want := range tests {
		if got := retryAfter(map[string][]string{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

// Urgent calls overtake those that wait; otherwise first come, first served.
func TestUrgentCallsOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(newMetrics().waiting)
		leave, err := l.enter(t.Context(), "op", false)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(name string, urgent bool) {
			go func() {
				leave, err := l.enter(t.Context(), "op", urgent)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, name)
				leave()
			}()
			synctest.Wait()
		}
		wait("poll 1", false)
		wait("poll 2", false)
		wait("off 1", true)
		wait("off 2", true)
		leave()
		synctest.Wait()
		if want := []string{"off 1", "off 2", "poll 1", "poll 2"}; !slices.Equal(order, want) {
			t.Errorf("order %v", order)
		}
		if leave, err = l.enter(t.Context(), "op", false); err != nil {
			t.Fatal(err)
		}
		leave()
	})
}
