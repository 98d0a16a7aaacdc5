package rack

import (
	"slices"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
)

// TestPersonalities takes a server through claim and soft hold behind BMCs that
// misbehave as real ones do. DropsOn and RefusesOnAfterOff take the 10 s after
// which On is sent again.
func TestPersonalities(t *testing.T) {
	t.Parallel()
	count := func(kinds []string, kind string) (n int) {
		for _, k := range kinds {
			if k == kind {
				n++
			}
		}
		return n
	}
	well := func(check func(b *bench, resets []string)) func(*bench) {
		return func(b *bench) {
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("the disk boot", 0, diskBoot)
			b.hold(a, "hold-1", protocol.StopSoft)
			b.until("the receipt", 0, fenced)
			if b.servers[0].BMC.PowerState() != protocol.PowerOff {
				b.t.Error("fenced and not Off")
			}
			if n, _, _, inst := b.servers[0].Boots.Counts(); n != 1 || inst != 1 {
				b.t.Errorf("%d network boots, %d installations", n, inst)
			}
			check(b, b.resets(0))
		}
	}
	order := func(want ...string) func(*bench, []string) {
		return func(b *bench, got []string) {
			if !slices.Equal(got, want) {
				b.t.Errorf("resets %v, want %v", got, want)
			}
		}
	}
	for _, tt := range []struct {
		p   bmcsim.Personality
		run func(*bench)
	}{
		{bmcsim.Plain(), well(order("On", "On", "GracefulShutdown"))},
		{bmcsim.PostRefuses(), well(order("On", "On", "GracefulShutdown"))},
		{bmcsim.ActionInfoOnly(), well(order("On", "On", "GracefulShutdown"))},
		{bmcsim.Baseboard(), well(order("On", "On", "GracefulShutdown"))},
		{bmcsim.SlowAnswers(), well(order("On", "On", "GracefulShutdown"))},
		{bmcsim.HangsPoweringOff(), well(order("On", "On", "GracefulShutdown", "ForceOff"))},
		{bmcsim.IgnoresGraceful(), well(order("On", "On", "GracefulShutdown", "ForceOff"))},
		{bmcsim.DropsOn(), well(order("On", "On", "On", "GracefulShutdown"))},
		{bmcsim.RefusesOnAfterOff(), well(func(b *bench, got []string) {
			if count(got, "On") != 2 {
				b.t.Errorf("resets %v", got)
			}
		})},
		{bmcsim.DropsOverride(), func(b *bench) {
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("OverrideNotStored", 0, has(protocol.CondOverrideNotStored))
			b.hold(a, "hold-1", protocol.StopSoft)
			b.until("the receipt", 0, fenced)
			if got := b.resets(0); len(got) != 0 {
				b.t.Errorf("resets %v", got)
			}
		}},
	} {
		t.Run(tt.p.Name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, tt.p)
			tt.run(b)
		})
	}
}
