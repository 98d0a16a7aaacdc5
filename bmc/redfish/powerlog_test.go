package redfish_test

import (
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// A BMC without a LastResetTime that logs power, in the system's log or in the manager's
// (Supermicro, captured trees): each power
// cycle is another newest entry, and nothing else is.
func TestPowerLog(t *testing.T) {
	for _, name := range []string{"SupermicroPowerLog", "SupermicroManagerLog"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			powerLog(t, name)
		})
	}
}

func powerLog(t *testing.T, name string) {
	t.Helper()
	p, ok := sim.Preset(name)
	if !ok {
		t.Fatal("there is no such preset")
	}
	p.Report.LastReset = "absent"
	r := newRig(t, p)
	if d := inventory(t, r).Detection; d.PowerLog != "" {
		t.Errorf("nothing was logged yet: %+v", d)
	}
	logger := r.driver.(bmc.PowerLogger)
	reset := func(kind bmc.ResetType, want protocol.PowerState) {
		t.Helper()
		if err := r.driver.Reset(deadline(t), kind); err != nil {
			t.Fatal(err)
		}
		r.await(t, want)
	}
	reset(bmc.ResetOn, protocol.PowerOn)
	d := inventory(t, r).Detection
	if d.Class != protocol.DetectLog || d.LastResetTime {
		t.Fatalf("%+v", d)
	}
	read := func() string {
		t.Helper()
		entry, err := logger.PowerLog(deadline(t), d.PowerLog)
		if err != nil || entry == "" {
			t.Fatalf("%q, %v", entry, err)
		}
		return entry
	}
	first := read()
	if again := read(); again != first {
		t.Errorf("%q became %q", first, again)
	}
	reset(bmc.ResetForceOff, protocol.PowerOff)
	reset(bmc.ResetOn, protocol.PowerOn)
	if last := read(); last == first {
		t.Errorf("%q after a power cycle", last)
	}
	if _, err := logger.PowerLog(deadline(t), "https://elsewhere/log"); err == nil {
		t.Error("another host was asked")
	}
}
