package redfish_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// TestConformance runs one life of a server through every personality that can
// live it: arm, on, boot, off.
func TestConformance(t *testing.T) {
	for _, p := range sim.Personalities() {
		switch p.Name {
		case sim.Down().Name, sim.DropsOverride().Name, sim.DropsOn().Name:
			continue // have tests of their own
		}
		p.AnswerDelay /= 10 // and not ten times the time
		p.RefuseOnFor /= 10
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, p)
			ctx := deadline(t)
			caps, err := r.driver.Capabilities(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if caps.Vendor != p.Manufacturer || caps.Model != p.Model {
				t.Errorf("capabilities say %q %q", caps.Vendor, caps.Model)
			}
			for _, want := range []bmc.ResetType{bmc.ResetOn, bmc.ResetForceOff, bmc.ResetGracefulShutdown} {
				if !slices.Contains(caps.Resets, want) {
					t.Errorf("capabilities lack the reset %s: %v", want, caps.Resets)
				}
			}
			r.await(t, protocol.PowerOff)
			stored := r.arm(t, protocol.TargetHdd)
			if stored.Target != protocol.TargetHdd || stored.Enabled != protocol.OverrideOnce {
				t.Fatalf("stored %+v", stored)
			}
			r.reset(t, bmc.ResetOn)
			r.await(t, protocol.PowerOn)
			r.awaitMachine(t, hardware.Running)
			o, err := r.driver.Observe(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if o.Override.Armed() {
				t.Errorf("override for once is still armed: %+v", o.Override)
			}
			if o.BootProgress != "OSRunning" || o.LastResetTime == "" || o.Server != "s1" || o.Source != protocol.SourcePoll {
				t.Errorf("observation %+v", o)
			}
			r.reset(t, bmc.ResetForceOff)
			r.await(t, protocol.PowerOff)
			if s := r.machine.State(); s != hardware.Off {
				t.Errorf("BMC says Off, machine is %s", s)
			}
		})
	}
}

func TestTransitionsAreSeen(t *testing.T) {
	p := sim.Plain()
	p.PowerOnDelay, p.PowerOffDelay = time.Hour, time.Hour
	r := newRig(t, p)
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerPoweringOn)
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerPoweringOff)
	r.bmc.Adjust(func(p *sim.Personality) { p.PowerOffDelay = 0 })
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerOff)
}

// metal-operator #1059: the override is consumed at the end of POST.
func TestOverrideSurvivesPowerOnUntilTheEndOfPost(t *testing.T) {
	slow := newRigOf(t, sim.Plain(), time.Hour)
	slow.arm(t, protocol.TargetHdd)
	slow.reset(t, bmc.ResetOn)
	slow.await(t, protocol.PowerOn)
	slow.awaitMachine(t, hardware.Post)
	if o, err := slow.driver.Observe(deadline(t)); err != nil || !o.Override.Armed() {
		t.Errorf("while POST still runs the override is %+v, %v", o.Override, err)
	}
	r := newRig(t, sim.Plain())
	r.arm(t, protocol.TargetHdd)
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	r.awaitMachine(t, hardware.Running)
	var order []string
	for _, h := range r.bmc.History() {
		order = append(order, h.What+" "+h.Detail)
	}
	want := []string{"patch Hdd Once", "reset On", "power PoweringOn", "power On", "consumed Hdd"}
	if !slices.Equal(order, want) {
		t.Errorf("history %q, want %q", order, want)
	}
}

// HPE iLO: metal-operator #997.
func TestChangeDuringPostIsBusy(t *testing.T) {
	p := sim.PostRefuses()
	p.PowerOnDelay = time.Hour // PoweringOn counts as POST
	r := newRig(t, p)
	r.reset(t, bmc.ResetOn)
	_, err := r.driver.SetBoot(deadline(t), protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce})
	wantCode(t, err, protocol.CodeConflict)
	var busy *bmc.Busy
	if !errors.As(err, &busy) || busy.Reason != "iLO.2.37.UnableToModifyDuringSystemPOST" {
		t.Fatalf("no Busy with the MessageId in %v", err)
	}
}

// V1: PoweringOff for ever is not Off, and ForceOff ends it.
func TestHangingPowerOff(t *testing.T) {
	bubbleRig(t, sim.HangsPoweringOff(), redfish.Config{}, func(t *testing.T, r *rig) {
		r.reset(t, bmc.ResetOn)
		r.await(t, protocol.PowerOn)
		r.reset(t, bmc.ResetGracefulShutdown)
		time.Sleep(time.Hour)
		o, err := r.driver.Observe(deadline(t))
		if err != nil || o.Power != protocol.PowerPoweringOff {
			t.Fatalf("power is %s, %v", o.Power, err)
		}
		if r.machine.State() == hardware.Off {
			t.Fatal("the machine went off; the personality hangs")
		}
		r.reset(t, bmc.ResetForceOff)
		r.await(t, protocol.PowerOff)
	})
}

func TestIgnoredGracefulShutdown(t *testing.T) {
	bubbleRig(t, sim.IgnoresGraceful(), redfish.Config{}, func(t *testing.T, r *rig) {
		r.arm(t, protocol.TargetHdd)
		r.reset(t, bmc.ResetOn)
		r.awaitMachine(t, hardware.Running)
		r.reset(t, bmc.ResetGracefulShutdown)
		time.Sleep(time.Hour)
		if o, err := r.driver.Observe(deadline(t)); err != nil || o.Power != protocol.PowerOn {
			t.Fatalf("power is %s, %v", o.Power, err)
		}
	})
}

func TestGracefulShutdown(t *testing.T) {
	r := newRig(t, sim.Plain())
	r.arm(t, protocol.TargetHdd)
	r.reset(t, bmc.ResetOn)
	r.awaitMachine(t, hardware.Running)
	r.reset(t, bmc.ResetGracefulShutdown)
	r.await(t, protocol.PowerOff)
}

// V8: 409 or 400 for the state already reached is a conflict for the caller to
// settle by reading; the read says Off.
func TestAlreadyInState(t *testing.T) {
	for _, p := range []sim.Personality{sim.Plain(), sim.PostRefuses()} {
		t.Run(p.Name, func(t *testing.T) {
			r := newRig(t, p)
			wantCode(t, r.driver.Reset(deadline(t), bmc.ResetForceOff), protocol.CodeConflict)
			r.await(t, protocol.PowerOff)
			r.reset(t, bmc.ResetOn)
			r.await(t, protocol.PowerOn)
			wantCode(t, r.driver.Reset(deadline(t), bmc.ResetOn), protocol.CodeConflict)
		})
	}
}

// V9: On accepted and dropped: no error, still Off; sent again it works.
func TestDroppedOn(t *testing.T) {
	r := newRig(t, sim.DropsOn())
	r.reset(t, bmc.ResetOn)
	if o, err := r.driver.Observe(deadline(t)); err != nil || o.Power != protocol.PowerOff {
		t.Fatalf("power is %s, %v", o.Power, err)
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
}

// V10: On is refused for a while after off.
func TestOnRefusedAfterOff(t *testing.T) {
	p := sim.RefusesOnAfterOff()
	p.RefuseOnFor = time.Hour
	r := newRig(t, p)
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerOff)
	wantCode(t, r.driver.Reset(deadline(t), bmc.ResetOn), protocol.CodeConflict)
	r.bmc.Adjust(func(p *sim.Personality) { p.RefuseOnFor = 0 })
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
}

// bmclib #459: 200 and not stored. The read-back shows it, without an error.
func TestDroppedOverride(t *testing.T) {
	r := newRig(t, sim.DropsOverride())
	if stored := r.arm(t, protocol.TargetUefiHTTP); stored.Armed() {
		t.Fatalf("read back %+v", stored)
	}
}

func TestDown(t *testing.T) {
	r := newRig(t, sim.Down())
	o, err := r.driver.Observe(deadline(t))
	wantCode(t, err, protocol.CodeUnavailable)
	if o.Power != protocol.PowerUnreachable || o.Code != protocol.CodeUnavailable || o.Error == "" {
		t.Errorf("observation %+v", o)
	}
	wantText(t, err, r.bmc.Address())
	if protocol.HintOf(err) == "" {
		t.Error("no hint")
	}
	if err := r.bmc.SetReach(sim.ReachOK); err != nil {
		t.Fatal(err)
	}
	r.await(t, protocol.PowerOff)
}

func TestHangingBMC(t *testing.T) {
	bubbleRig(t, sim.Plain(), redfish.Config{}, func(t *testing.T, r *rig) {
		if err := r.bmc.SetReach(sim.ReachHangs); err != nil {
			t.Fatal(err)
		}
		o, err := r.driver.Observe(t.Context())
		wantCode(t, err, protocol.CodeTimeout)
		if o.Power != protocol.PowerUnreachable {
			t.Errorf("power is %s", o.Power)
		}
	})
}
