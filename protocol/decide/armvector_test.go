package decide

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// arms reads Off, and answers the arm that follows with an outcome.
func (y *play) arms(o protocol.BootOutcome, stored protocol.Override, read protocol.Override) Plan {
	y.t.Helper()
	y.read(protocol.PowerOff, 0, nil)
	y.want(ActArm)
	r := y.answered("")
	r.Outcome, r.Stored, r.Read, r.Where, r.Text = o, stored, read, "/redfish/v1/Systems/1", "as the BMC says"
	y.bmc = stored
	return y.read(protocol.PowerOff, sec, r)
}

func once(t protocol.BootTarget) protocol.Override {
	return protocol.Override{Target: t, Enabled: protocol.OverrideOnce, Mode: "UEFI"}
}

// TestOutcomeVectors are what becomes of an override, by the driver's outcomes; the
// sources of those are with their personalities (bmc/sim).
func TestOutcomeVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	http, hdd := protocol.TargetUefiHTTP, protocol.TargetHdd
	lasting := protocol.Override{Target: http, Enabled: protocol.OverrideContinuous, Mode: "UEFI"}
	done := func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }
	fetched := func(y *play, d time.Duration) {
		y.s.Events = []Event{{Begun: true, Token: "token"}, {Kind: protocol.EvidenceFetched, File: "boot.efi", Token: "token"}}
		y.read(on, d, nil)
	}
	for name, tell := range map[string]func(t *testing.T){
		"not stored ends the attempt and says where": func(t *testing.T) {
			for _, o := range []protocol.BootOutcome{protocol.BootDropped, protocol.BootReverted, protocol.BootUnsupported} {
				y := story(t, nil)
				y.arms(o, disarmed(), disarmed())
				y.want(ActNone)
				y.condition(resource.CondOverrideNotStored)
				y.happened(resource.EventAttemptFailed)
				a := y.p.Record.Attempt
				if !strings.HasPrefix(a.Stage.Ending.Reason, string(resource.CondOverrideNotStored)) || !strings.Contains(a.Stage.Ending.Reason, string(o)+" at /redfish/v1/Systems/1: as the BMC says") {
					t.Errorf("%s: reason %q", o, a.Stage.Ending.Reason)
				}
			}
		},
		"what was stored instead is cleared (AS-1015CS, bmclib 459)": func(t *testing.T) {
			y := story(t, nil)
			legacy := protocol.Override{Target: http, Enabled: protocol.OverrideOnce, Mode: "Legacy"}
			y.arms(protocol.BootReverted, legacy, legacy)
			y.read(off, 2*sec, nil)
			y.want(ActDisarm)
		},
		"armed in the wrong mode, with an error": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 0, nil)
			r := y.answered("")
			r.Outcome, r.Code, r.Message = protocol.BootReverted, protocol.CodeUnsupported, "the mode is Legacy"
			y.bmc = protocol.Override{Target: http, Enabled: protocol.OverrideOnce, Mode: "Legacy"}
			y.read(off, sec, r)
			y.condition(resource.CondOverrideNotStored)
			y.read(off, 2*sec, nil)
			y.want(ActDisarm)
		},
		"a busy BMC is waited for longer than a silent one": func(t *testing.T) {
			y := story(t, nil)
			d := time.Duration(0)
			for ; d < 3*armTimeout; d += 30 * sec {
				y.read(off, d, nil)
				y.want(ActArm)
				r := y.answered(protocol.CodeUnavailable)
				r.Outcome, r.Busy, r.RetryAfter, r.Message = protocol.BootRefusedByState, true, 20*sec, "SYS518"
				y.read(off, d+sec, r)
				y.want(ActNone)
				y.condition(resource.CondBMCBusy)
				y.read(off, d+sec+19*sec, nil) // the BMC asked for 20 s
				y.want(ActNone)
			}
			if a := y.p.Record.Attempt; a.Stage.State != resource.AttemptPreparing || a.Number != 1 {
				t.Errorf("attempt %+v", a)
			}
			y.read(off, d, nil)
			y.read(off, d+sec, y.answered(""))
			y.want(ActOn)
		},
		"no answer is tried again for a while": func(t *testing.T) {
			y := story(t, nil)
			for d := time.Duration(0); d < armTimeout; d += 10 * sec {
				y.read(off, d, nil)
				y.want(ActArm)
				y.read(off, d+sec, y.answered(protocol.CodeTimeout))
				y.condition(resource.CondPowerFailed)
			}
			y.read(off, armTimeout, nil)
			y.condition(resource.CondFirstBootFailed)
			y.want(ActNone)
			y.read(off, armTimeout+sec, nil) // it may be armed where no read shows it
			y.want(ActDisarm)
			y.read(off, armTimeout+2*sec, y.answered(""))
			y.want(ActNone)
		},
		"an alias is ours also after a restart (R640)": func(t *testing.T) {
			y := story(t, nil)
			y.arms(protocol.BootAliased, once(http), once("UefiTarget"))
			y.want(ActOn)
			y.happened(resource.EventArmed)
			y.restart()
			y.bmc = once("UefiTarget")
			y.read(off, 3*sec, nil)
			if a := y.p.Record.Attempt; a.Stage.State != resource.AttemptPowerRequested {
				t.Errorf("attempt %s: %s", a.Stage.State, a.Stage.Ending.Reason)
			}
			y.s.Holds = held(resource.StopHard, "h")
			y.read(off, 20*sec, nil)
			y.want(ActDisarm)
		},
		"what waits for a reset is cleared unseen (AMI /SD)": func(t *testing.T) {
			y := story(t, nil)
			y.arms(protocol.BootPendingReset, once(http), once(http))
			y.want(ActOn)
			y.restart()
			y.bmc = disarmed()
			y.s.Holds = held(resource.StopHard, "h")
			y.read(off, 20*sec, nil)
			y.want(ActDisarm)
			y.read(off, 21*sec, y.answered(""))
			y.want(ActNone)
		},
		"Continuous is cleared once firmware took it (kubevirtbmc 165)": func(t *testing.T) {
			y := story(t, nil)
			y.keeps = true
			y.arms(protocol.BootCoercedContinuous, lasting, lasting)
			y.want(ActOn)
			y.read(on, 2*sec, y.answered(""))
			y.want(ActNone) // nothing shows that firmware has taken it
			y.s.Events = []Event{{Kind: protocol.EvidenceDHCP, Class: protocol.ClassHTTPClient, At: at(3 * sec)}}
			y.read(on, 3*sec, nil)
			y.want(ActDisarm)
			r := y.answered(protocol.CodeUnavailable)
			r.Outcome, r.Busy = protocol.BootRefusedByState, true
			y.bmc = lasting
			y.read(on, 4*sec, r)
			y.want(ActNone)
			y.condition(resource.CondBMCBusy)
			fetched(y, 20*sec)
			y.want(ActDisarm)
			y.read(on, 21*sec, y.answered(""))
			y.want(ActNone)
			if y.p.Record.Residue.has(LeftOverride) {
				t.Error("still to be cleared")
			}
		},
		"Continuous is served once": func(t *testing.T) {
			y := story(t, nil)
			y.keeps = true
			y.arms(protocol.BootCoercedContinuous, lasting, lasting)
			y.read(on, 2*sec, y.answered(""))
			serve := func(class protocol.ClientClass) protocol.BootAnswer {
				s := ServeSnapshot{Synced: true, Server: "server-1", Architecture: "amd64", Attempt: y.p.Record.Attempt}
				return Serve(s, protocol.BootClient{Class: class, Archs: []uint16{16}})
			}
			if a := serve(protocol.ClassHTTPClient); a.Action != protocol.AnswerBoot {
				t.Errorf("first: %+v", a)
			}
			fetched(y, 3*sec)
			if a := serve(protocol.ClassHTTPClient); a.Action != protocol.AnswerRefuse || a.Token != "" {
				t.Errorf("again: %+v", a)
			}
			if a := serve(protocol.ClassNone); a.Action != protocol.AnswerLease || a.Token == "" {
				t.Errorf("the installer: %+v", a)
			}
		},
		"Continuous that nothing took is cleared when Off": func(t *testing.T) {
			y := story(t, nil)
			y.keeps = true
			y.arms(protocol.BootCoercedContinuous, lasting, lasting)
			y.s.Holds = held(resource.StopHard, "h")
			y.read(on, 2*sec, y.answered(""))
			y.want(ActForceOff)
			y.read(off, 3*sec, y.answered(""))
			y.want(ActDisarm)
		},
		"Continuous from disk is taken when a system loads, or POST is over": func(t *testing.T) {
			for _, progress := range []string{"OSBootStarted", ""} {
				y := story(t, done)
				y.keeps = true
				disk := protocol.Override{Target: hdd, Enabled: protocol.OverrideContinuous}
				y.arms(protocol.BootCoercedContinuous, disk, disk)
				y.read(on, 2*sec, y.answered(""))
				y.want(ActNone)
				d := consumeTimeout + 2*sec
				if progress != "" {
					d = 3 * sec
				}
				o := seen(on, d)
				o.Override, o.BootProgress = disk, progress
				y.s.Observation = o
				y.p = Step(at(d), y.s)
				y.want(ActDisarm)
				if s := y.p.Record.Attempt.Stage.State; s != resource.AttemptSucceeded {
					t.Errorf("%q: attempt %s", progress, s)
				}
			}
		},
	} {
		t.Run(name, tell)
	}
}
