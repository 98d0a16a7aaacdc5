package rack

import (
	"slices"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// onAgain is after how long decide sends On again to a server that still reads Off.
const onAgain = 10 * time.Second

// impatient lets the agent's clock pass that time, as often as it takes, while an On is
// under way and the server is Off. It is for BMCs that do not follow the first On: with
// one that does, it changes nothing, because what is read after the On is not Off.
func (b *bench) impatient(ok func(resource.ServerReport) bool) func(resource.ServerReport) bool {
	moved := time.Now()
	return func(r resource.ServerReport) bool {
		if a := r.Attempt; a != nil && a.State == resource.AttemptPowerRequested && b.servers[0].BMC.PowerState() == protocol.PowerOff && time.Since(moved) > 3*b.poll {
			moved = time.Now()
			b.ahead.Add(int64(onAgain))
		}
		return ok(r)
	}
}

// TestPersonalities takes a server through claim and soft hold behind BMCs that
// misbehave as real ones do.
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
	through := func(booted func(*bench) func(resource.ServerReport) bool, check func(b *bench, resets []string)) func(*bench) {
		return func(b *bench) {
			b.servers[0].BMC.Adjust(func(p *bmcsim.Personality) {
				if !p.IgnoreGraceful && !p.HangPoweringOff {
					b.soft = time.Hour // it heeds the button: however slow all is, nobody forces it off
				}
			})
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("the disk boot", 0, booted(b))
			b.hold(a, "hold-1", resource.StopSoft)
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
	well := func(check func(*bench, []string)) func(*bench) {
		return through(func(*bench) func(resource.ServerReport) bool { return diskBoot }, check)
	}
	again := func(check func(*bench, []string)) func(*bench) {
		return through(func(b *bench) func(resource.ServerReport) bool { return b.impatient(diskBoot) }, check)
	}
	order := func(want ...string) func(*bench, []string) {
		return func(b *bench, got []string) {
			if !slices.Equal(got, want) {
				b.t.Errorf("resets %v, want %v", got, want)
			}
		}
	}
	preset := func(name string) bmcsim.Personality {
		p, ok := bmcsim.Preset(name)
		if !ok {
			t.Fatalf("no preset %s", name)
		}
		return p
	}
	// notStored ends each attempt before anything is powered on, and says why.
	notStored := func(outcome protocol.BootOutcome) func(*bench) {
		return func(b *bench) {
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			r := b.until("OverrideNotStored", 0, has(resource.CondOverrideNotStored))
			if r.Attempt.Outcome != outcome || !strings.HasPrefix(r.Attempt.Reason, string(resource.CondOverrideNotStored)) {
				b.t.Errorf("attempt %+v, want %s", r.Attempt, outcome)
			}
			b.hold(a, "hold-1", resource.StopSoft)
			b.until("the receipt", 0, fenced)
			if got := b.resets(0); len(got) != 0 || b.servers[0].BMC.Override().Armed() {
				b.t.Errorf("resets %v, override %+v", got, b.servers[0].BMC.Override())
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
		{bmcsim.DropsOn(), again(order("On", "On", "On", "GracefulShutdown"))},
		{bmcsim.RefusesOnAfterOff(), again(func(b *bench, got []string) {
			if count(got, "On") != 2 {
				b.t.Errorf("resets %v", got)
			}
		})},
		{bmcsim.DropsOverride(), notStored(protocol.BootDropped)},
		{preset("SupermicroForgets"), notStored(protocol.BootReverted)},
		{preset("IBMNoOverride"), notStored(protocol.BootUnsupported)},
		{preset("LenovoNoUefiHttp"), notStored(protocol.BootUnsupported)},
		{preset("KubevirtContinuous"), well(func(b *bench, got []string) {
			order("On", "On", "GracefulShutdown")(b, got)
			if b.servers[0].BMC.Override().Armed() {
				b.t.Errorf("override %+v", b.servers[0].BMC.Override())
			}
		})},
		{preset("HPEAlready"), well(order("On", "On", "GracefulShutdown"))},
		{preset("DGXFewResets"), well(order("On", "On", "GracefulShutdown"))},
		{preset("NoResetTypes"), well(order("On", "On", "GracefulShutdown"))},
		{preset("PowerWords"), well(order("On", "On", "GracefulShutdown"))},
		{preset("PowerNull"), well(order("On", "On", "GracefulShutdown"))},
		{preset("PowerPaused"), well(order("On", "On", "GracefulShutdown"))},
		{preset("StaleOn"), well(order("On", "On", "GracefulShutdown"))},
		{preset("OnFallsBack"), again(order("On", "On", "On", "GracefulShutdown"))},
	} {
		t.Run(tt.p.Name, func(t *testing.T) {
			t.Parallel()
			tt.run(newBench(t, 1, tt.p))
		})
	}
}
