package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// Guessing tokens is slow from one place, and hinders nobody elsewhere.
func TestThrottle(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	refused := prometheus.NewCounter(prometheus.CounterOpts{Name: "x"})
	th := newThrottle(func() time.Time { return now }, joinEvery, joinBurst, refused)
	for i := range joinBurst {
		if err := th.admit(fmt.Sprintf("192.0.2.1:%d", 1000+i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		remote string
		ok     bool
		why    string
	}{
		{"192.0.2.1:9", false, "the burst is used, whatever the port"},
		{"[::ffff:192.0.2.1]:9", false, "the same address"},
		{"192.0.2.2:9", true, "another one"},
		{"[2001:db8:1:2::1]:9", true, "IPv6"},
	} {
		if err := th.admit(row.remote); (err == nil) != row.ok {
			t.Errorf("%s: %v; %s", row.remote, err, row.why)
		}
	}
	for i := range joinBurst - 1 {
		if err := th.admit(fmt.Sprintf("[2001:db8:1:2::%x]:9", i+2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := th.admit("[2001:db8:1:2:ffff::1]:9"); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("another address of a used-up network: %v", err)
	}
	if err := th.admit("[2001:db8:1:3::1]:9"); err != nil {
		t.Errorf("another network: %v", err)
	}
	now = now.Add(joinEvery)
	if err := th.admit("192.0.2.1:9"); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	if got := testutil.ToFloat64(refused); got != 3 {
		t.Errorf("%v were counted", got)
	}
	for i := range 2 * maxGuests {
		_ = th.admit(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if len(th.by) > maxGuests {
		t.Errorf("%d addresses are remembered", len(th.by))
	}
}

// FuzzJoin: whatever a stranger sends, the hub looks up what has the right form only.
func FuzzJoin(f *testing.F) {
	f.Add([]byte(`{"token":"t","csr":"","key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","host":"h"}`))
	f.Add([]byte(`{"token":"t","key":null}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"token":"t"}{"token":"u"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := readJoin(raw)
		if err == nil && (r.Token == "" || len(r.Key) != 32 || len(r.CSR) > 16<<10 || len(r.Host) > 253) {
			t.Errorf("taken: %+v", r)
		}
	})
}
