package redfish_test

import (
	"strings"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// The BMC's clock is read beside a LastResetTime that is the first or another one, and only then:
// where that is computed from the uptime, it moves when the clock is set.
func TestManagerTime(t *testing.T) {
	t.Parallel()
	r := preset(t, "LastResetComputed")
	read := func() protocol.Observation {
		t.Helper()
		o, err := r.driver.Observe(deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	asked := func() (n int) {
		for _, q := range r.bmc.Requests() {
			if strings.Contains(q.Path, "/Managers/") {
				n++
			}
		}
		return n
	}
	if o := read(); o.LastResetTime != "" || o.ManagerTime != "" {
		t.Fatalf("before any reset: %+v", o)
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	first := read()
	for first.LastResetTime == "" {
		first = read()
	}
	n := asked()
	if n != 1 {
		t.Fatalf("the clock was read %d times", n)
	}
	for range 3 {
		if o := read(); o.ManagerTime != "" || o.LastResetTime != first.LastResetTime {
			t.Fatalf("%+v after %+v", o, first)
		}
	}
	for i, by := range []time.Duration{2 * time.Hour, -5 * time.Hour} {
		before := time.Now()
		r.bmc.Adjust(func(p *sim.Personality) { p.Report.Clock = by })
		o := read()
		shows, err := time.Parse(time.RFC3339, o.ManagerTime)
		if err != nil || o.LastResetTime == first.LastResetTime || shows.Sub(before.Add(by)).Abs() > time.Minute {
			t.Errorf("the clock set by %s: %+v, %v", by, o, err)
		}
		if got := asked(); got != n+i+1 {
			t.Errorf("the clock was read %d times, want %d", got, n+i+1)
		}
	}
	r.bmc.Inject(sim.Fault{Method: "GET", Path: "/redfish/v1/Managers/1", Status: 500, Times: 1})
	r.bmc.Adjust(func(p *sim.Personality) { p.Report.Clock = 0 })
	if o := read(); o.ManagerTime != "" || o.Power != protocol.PowerOn {
		t.Errorf("a manager that fails makes the read no worse: %+v", o)
	}
}
