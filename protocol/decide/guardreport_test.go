package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestGuardReportTable(t *testing.T) {
	doctable.Of(t, "guardreport.go", "guardReportRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.Words(GuardNone, GuardKnown, GuardSet, GuardCannot)},
		func(in []string) string {
			if s := guardReportRule(in[0] == "yes", in[1] == "yes", Guarding(in[2])); s != "" {
				return string(s)
			}
			return "nothing"
		})
}

// TestKeptPolicy: a Server that keeps its power restore policy is held without a write to it; one that
// is to keep it while it is held gets back what it had, and its receipt says nothing of it any more.
func TestKeptPolicy(t *testing.T) {
	const off = protocol.PowerOff
	says := func(t *testing.T, y *play, want resource.GuardReport) {
		t.Helper()
		got := y.p.Record.GuardReport(y.p.Watch, y.s.Holds, y.s.Intent.KeepPowerRestorePolicy)
		if got == nil && want.State != "" || got != nil && *got != want {
			t.Errorf("it says %+v, want %+v", got, want)
		}
	}
	t.Run("from the beginning", func(t *testing.T) {
		y := story(t, func(s *Snapshot) {
			s.Holds = held(resource.StopHard, "h")
			s.Intent.KeepPowerRestorePolicy = true
		})
		for d := 1 * sec; d < 60*sec; d += sec {
			y.read(off, d, nil)
			if y.policy != protocol.RestoreAlwaysOn || y.p.Record.Guard != nil {
				t.Fatalf("at %v the policy is %s, guard %+v", d, y.policy, y.p.Record.Guard)
			}
		}
		y.receipt("h", true)
		y.lacks(resource.CondRestorePolicy)
		says(t, y, resource.GuardReport{State: resource.GuardKept})
		if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != "" {
			t.Errorf("the receipt vouches for %s", p)
		}
		y.s.Holds = nil
		y.read(off, 60*sec, nil)
		says(t, y, resource.GuardReport{})
	})
	t.Run("while it is held", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.read(off, 1*sec, nil)
		y.read(off, 6*sec, nil)
		says(t, y, resource.GuardReport{State: resource.GuardSet, Before: protocol.RestoreAlwaysOn})
		if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != protocol.RestoreAlwaysOff {
			t.Fatalf("the receipt vouches for %q", p)
		}
		y.s.Intent.KeepPowerRestorePolicy, y.rude = true, protocol.CodeUnavailable
		y.read(off, 20*sec, nil)
		if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != "" {
			t.Errorf("the receipt vouches for %s, which is being put back", p)
		}
		says(t, y, resource.GuardReport{State: resource.GuardDue, Before: protocol.RestoreAlwaysOn, Why: "unavailable"})
		y.condition(resource.CondRestorePolicy)
		y.rude = ""
		y.until(off, 21*sec, 200*sec)
		y.receipt("h", true)
		if y.policy != protocol.RestoreAlwaysOn || y.p.Record.Guard != nil {
			t.Errorf("policy %s, guard %+v", y.policy, y.p.Record.Guard)
		}
		says(t, y, resource.GuardReport{State: resource.GuardKept})
		y.s.Intent.KeepPowerRestorePolicy = false
		y.until(off, 201*sec, 220*sec)
		if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != protocol.RestoreAlwaysOff || y.policy != p {
			t.Errorf("guarded again, the receipt vouches for %q, the policy is %s", p, y.policy)
		}
	})
	t.Run("its own is AlwaysOff", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.policy = protocol.RestoreAlwaysOff
		y.read(off, 1*sec, nil)
		y.read(off, 6*sec, nil)
		y.s.Intent.KeepPowerRestorePolicy = true
		y.read(off, 20*sec, nil)
		if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != "" || y.p.Record.Guard != nil || y.policy != protocol.RestoreAlwaysOff {
			t.Errorf("the receipt vouches for %q, guard %+v, policy %s", p, y.p.Record.Guard, y.policy)
		}
	})
}
