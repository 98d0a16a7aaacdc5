package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A server with disablePowerOff is never powered off: a reboot is a restart (metal3 B17), and what needs
// an Off waits and says so.
func TestPowerOffDisabled(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	kept := func(s *Snapshot) {
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
		s.Intent.DisablePowerOff = true
	}
	reboot := func(y *play, mode resource.StopMode) {
		y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, Mode: mode, NotAfter: at(time.Hour)}}
	}
	outcome := func(y *play, want resource.Outcome) {
		y.t.Helper()
		if got := y.p.Record.Requests; len(got) != 1 || got[0].Outcome != want {
			y.t.Errorf("request %+v, want %s", got, want)
		}
	}
	keep := func(y *play, d time.Duration, r *Result) { // On, with the override that there is
		y.s.Result = r
		y.look(on, d, func(*protocol.Observation) {})
	}
	for name, tell := range map[string]func(t *testing.T){
		"a soft reboot asks for a restart, with the disk armed": func(t *testing.T) {
			y := story(t, kept)
			keep(y, sec, nil)
			reboot(y, resource.StopSoft)
			keep(y, 2*sec, nil)
			y.want(ActArm)
			keep(y, 3*sec, y.answered(""))
			y.want(ActRestart)
			if !y.p.Action.Soft {
				t.Error("it is reset at once")
			}
			y.bmc = disarmed()
			keep(y, 40*sec, y.answered(""))
			keep(y, 41*sec, nil)
			outcome(y, resource.OutcomeDone)
			if y.p.Record.LastPoweredOn.IsZero() {
				t.Error("it was not noted as powered on")
			}
		},
		"a hard reboot resets it": func(t *testing.T) {
			y := story(t, kept)
			keep(y, sec, nil)
			reboot(y, resource.StopHard)
			keep(y, 2*sec, nil)
			keep(y, 3*sec, y.answered(""))
			y.want(ActRestart)
			if y.p.Action.Soft {
				t.Error("it is asked to stop")
			}
		},
		"a BMC without that restart refuses the reboot": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				kept(s)
				s.Record.Safety = &protocol.Safety{Offers: protocol.Offers{GracefulRestart: protocol.OfferedNo, ForceRestart: protocol.OfferedYes}}
			})
			keep(y, sec, nil)
			reboot(y, resource.StopSoft)
			keep(y, 2*sec, nil)
			y.want(ActNone)
			outcome(y, resource.OutcomeRefused)
		},
		"one that says so only then too": func(t *testing.T) {
			y := story(t, kept)
			keep(y, sec, nil)
			reboot(y, resource.StopSoft)
			keep(y, 2*sec, nil)
			keep(y, 3*sec, y.answered(""))
			y.want(ActRestart)
			keep(y, 4*sec, y.answered(protocol.CodeUnsupported))
			outcome(y, resource.OutcomeRefused)
			keep(y, 5*sec, nil)
			if k := y.p.Action.Kind; k == ActGraceful || k == ActForceOff {
				t.Errorf("it is stopped: %s", k)
			}
		},
		"a power-off is refused": func(t *testing.T) {
			y := story(t, kept)
			y.s.Intent.Power = resource.WantOff
			y.read(on, sec, nil)
			y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestPowerOff, NotAfter: at(time.Hour)}}
			y.read(on, 2*sec, nil)
			outcome(y, resource.OutcomeRefused)
		},
		"a claim that wants it Off waits, and so does its end": func(t *testing.T) {
			for _, change := range []func(*play){func(y *play) { y.s.Intent.Power = resource.WantOff }, func(y *play) { y.s.Intent.Releasing = true }} {
				y := story(t, kept)
				y.read(on, sec, nil)
				change(y)
				for i := range 20 {
					y.read(on, time.Duration(i+2)*time.Minute, nil)
					y.want(ActNone)
					y.condition(resource.CondPowerOffDisabled)
				}
				y.read(off, 30*time.Minute, nil) // by somebody
				for _, c := range y.p.Record.Conditions {
					if c.Code == resource.CondPowerOffDisabled {
						t.Error("the condition stays")
					}
				}
			}
		},
		"a first boot that failed does not stop it": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.DisablePowerOff = true })
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.want(ActOn)
			y.bmc = disarmed()
			y.read(on, 2*sec, y.answered(""))
			for d := time.Duration(0); d < time.Hour; d += 30 * sec {
				y.read(on, 3*sec+d, nil)
				if k := y.p.Action.Kind; k == ActForceOff || k == ActGraceful {
					t.Fatalf("after %v: %s", d, k)
				}
			}
			y.condition(resource.CondPowerOffDisabled)
		},
		"a hold that lies stops it all the same (P1)": func(t *testing.T) {
			y := story(t, kept)
			y.read(on, sec, nil)
			y.s.Holds = held(resource.StopHard, "h")
			y.read(on, 2*sec, nil)
			y.want(ActForceOff)
		},
	} {
		t.Run(name, tell)
	}
}

// However it is asked, read and answered: without a hold such a server is never sent a stop.
func TestPowerOffDisabledProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		y := story(t, func(s *Snapshot) {
			s.Intent.DisablePowerOff = true
			if rapid.Bool().Draw(r, "installed") {
				s.Record.Owners.Provisioned = provisionedBy("claim-1")
			}
		})
		powers := []protocol.PowerState{protocol.PowerOn, protocol.PowerOff, protocol.PowerPaused, protocol.PowerPoweringOff, protocol.PowerUnreachable}
		codes := []protocol.Code{"", protocol.CodeUnsupported, protocol.CodeUnavailable, protocol.CodeConflict}
		now, n := time.Duration(0), 0
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			var result *Result
			if y.p.Action.Kind != ActNone && y.p.Action.Kind != "" {
				result = y.answered(rapid.SampledFrom(codes).Draw(r, "code"))
			}
			switch rapid.IntRange(0, 9).Draw(r, "what") {
			case 0, 1, 2:
				n++
				q := resource.Request{
					ID: fmt.Sprint(n), Action: rapid.SampledFrom([]resource.RequestAction{resource.RequestReboot, resource.RequestPowerOff, resource.RequestResume}).Draw(r, "asked"),
					Mode: rapid.SampledFrom([]resource.StopMode{resource.StopSoft, resource.StopHard}).Draw(r, "mode"), NotAfter: at(now + time.Hour),
					AnyPhase: rapid.Bool().Draw(r, "any"), Retry: rapid.Bool().Draw(r, "retry"),
				}
				y.s.Requests = append(slices.Clone(y.s.Requests), q)
			case 3:
				y.s.Intent.Power = rapid.SampledFrom([]resource.Power{resource.WantOn, resource.WantOff}).Draw(r, "power")
			case 4:
				y.s.Intent.Releasing = rapid.Bool().Draw(r, "releasing")
			case 5:
				y.bmc = protocol.Override{}
			}
			now += time.Duration(rapid.IntRange(1, 400).Draw(r, "seconds")) * sec
			y.s.Result = result
			y.look(rapid.SampledFrom(powers).Draw(r, "shows"), now, func(*protocol.Observation) {})
			if k := y.p.Action.Kind; k == ActForceOff || k == ActGraceful {
				r.Fatalf("it is sent %s", k)
			}
		}
	})
}
