package decide

import (
	"strconv"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestFaultTable(t *testing.T) {
	doctable.Of(t, "fault.go", "faultCondition").Hold(t, [][]string{doctable.Words(protocol.FaultKinds()...)}, func(in []string) []string {
		return doctable.Words(faultCondition(protocol.FaultKind(in[0])))
	})
	for _, k := range append(protocol.FaultKinds(), "", "later") {
		code := faultCondition(k)
		if _, ok := resource.LookupCondition(code); !ok && code != conditionNone {
			t.Errorf("%s is %s, which is not registered", k, code)
		}
	}
}

func TestActionOfTable(t *testing.T) {
	doctable.Of(t, "order.go", "actionOf").Hold(t, [][]string{{"On", "ForceRestart", "GracefulRestart", "GracefulShutdown", "ForceOff", "Nmi", ""}}, func(in []string) []string {
		return doctable.Words(actionOf(in[0]))
	})
}

func TestForcePauseTable(t *testing.T) {
	doctable.Of(t, "forceoff.go", "forcePause").Hold(t, [][]string{{"1", "2", "3", "4", "more"}, doctable.YesNo()}, func(in []string) []string {
		n, err := strconv.Atoi(in[0])
		if err != nil {
			n = 5
		}
		return []string{forcePause(n, in[1] == "yes").String()}
	})
	for n := range 100 {
		if p := forcePause(n, false); p < resendForce || p > forceMax {
			t.Errorf("after the %dth: %v", n, p)
		}
	}
}

func TestIgnoredTable(t *testing.T) {
	doctable.Of(t, "forceoff.go", "ignoredRule").Hold(t, [][]string{doctable.Words(protocol.PowerStates()...), {"few", "two", "more"}, doctable.YesNo()}, func(in []string) []string {
		taken := map[string]int{"few": ignoredAfter - 1, "two": ignoredAfter, "more": ignoredAfter + 1}[in[1]]
		return []string{yes(ignoredRule(protocol.PowerState(in[0]), taken, in[2] == "yes"))}
	})
}

func TestBlindTable(t *testing.T) {
	doctable.Of(t, "forceoff.go", "blindRule").Hold(t, [][]string{doctable.YesNo(), doctable.Words(resource.StopSoft, resource.StopHard), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) []string {
		return []string{yes(blindRule(in[0] == "yes", resource.StopMode(in[1]), in[2] == "yes", in[3] == "yes", in[4] == "yes"))}
	})
}

func TestDisarmTable(t *testing.T) {
	word := map[string]DisarmWay{"disabled": DisarmDisabled, "none": DisarmNone, "hdd": DisarmHdd, "leave": DisarmLeave}
	name := map[DisarmWay]string{}
	for n, w := range word {
		name[w] = n
	}
	doctable.Of(t, "disarm.go", "disarmRule").Hold(t, [][]string{
		{"disabled", "none", "hdd", "leave"}, doctable.Words(replyNever, replyState, replySilent), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return []string{name[disarmRule(word[in[0]], reply(in[1]), in[2] == "yes", in[3] == "yes")]}
	})
}

// TestDisarmEnds: a BMC that answers and refuses is left after a bounded number of writes,
// whatever it answers.
func TestDisarmEnds(t *testing.T) {
	for _, is := range []reply{replyNever, replyState} {
		way, tries, writes := DisarmDisabled, 0, 0
		for ; way != DisarmLeave; writes++ {
			if writes > 3*disarmTries {
				t.Fatalf("%s: %d writes", is, writes)
			}
			tries++
			if next := disarmRule(way, is, tries >= disarmTries, false); next != way {
				way, tries = next, 0
			}
		}
		if is == replyNever && writes != 3 {
			t.Errorf("%d writes before it is left, want 3", writes)
		}
	}
}

// TestFaultVectors are stories of BMCs that do not do what they take.
func TestFaultVectors(t *testing.T) {
	const on, off, unknown = protocol.PowerOn, protocol.PowerOff, protocol.PowerUnknown
	for name, tell := range map[string]func(t *testing.T){
		"ForceOff without effect is named by the second, and sent less and less often": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			sent, last := 0, time.Duration(0)
			var gaps []time.Duration
			for d := time.Duration(0); d < 15*time.Minute; d += sec {
				var r *Result
				if y.p.Action.Kind == ActForceOff {
					r = y.answered("")
				}
				y.read(on, d, r)
				if y.p.Action.Kind == ActForceOff {
					if sent++; sent > 1 {
						gaps = append(gaps, d-last)
					}
					last = d
				}
				if named := y.has(resource.CondForceOffIgnored); named != (d >= 2*resendForce+sec) && d != 2*resendForce {
					t.Fatalf("after %v and %d sent: named %t", d, sent, named)
				}
			}
			if sent > 20 || gaps[0] != resendForce || gaps[len(gaps)-1] != forceMax {
				t.Errorf("%d sent, %v apart", sent, gaps)
			}
			y.read(off, 15*time.Minute, nil)
			y.lacks(resource.CondForceOffIgnored)
		},
		"a new hold begins anew": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			d := time.Duration(0)
			for ; d < 5*time.Minute; d += sec {
				var r *Result
				if y.p.Action.Kind == ActForceOff {
					r = y.answered("")
				}
				y.read(on, d, r)
			}
			for ; y.p.Action.Kind != ActForceOff; d += sec {
				y.read(on, d, nil)
			}
			sent := d
			y.s.Holds = append(held(resource.StopHard, "h"), Hold{ActiveHold: resource.ActiveHold{ID: "i", HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}}, EnforcedAt: at(d)})
			y.read(on, d, y.answered(""))
			for d += sec; y.p.Action.Kind != ActForceOff; d += sec {
				y.read(on, d, nil)
			}
			if got := d - sent; got > resendForce+3*sec {
				t.Errorf("sent again after %v", got)
			}
		},
		"a Task that fails is named, and no effect of it is missed": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			y.read(on, 0, nil)
			y.want(ActForceOff)
			y.read(on, sec, y.answered(""))
			y.fails("ForceOff", on, 2*sec)
			y.condition(resource.CondTaskFailed)
			y.read(on, resendForce+sec, nil)
			y.want(ActForceOff)
			y.read(on, resendForce+2*sec, y.answered(""))
			y.condition(resource.CondTaskFailed) // taken again is not done
			y.fails("ForceOff", on, resendForce+3*sec)
			y.read(on, 5*resendForce, nil)
			y.lacks(resource.CondForceOffIgnored) // it says itself why
			y.read(off, 6*resendForce, nil)
			y.lacks(resource.CondTaskFailed)
		},
		"somebody else's Task is none of ours": func(t *testing.T) {
			y := story(t, nil)
			y.fails("Nmi", on, 0)
			y.lacks(resource.CondTaskFailed)
		},
		"no power state, and a hard hold: forced, unproved, and said so": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			y.cut(unknown, 0)
			y.want(ActNone)
			y.cut(unknown, blindAfter-sec)
			y.want(ActNone)
			y.cut(unknown, blindAfter)
			y.want(ActForceOff)
			y.condition(resource.CondForcedUnread)
			y.condition(resource.CondBMCCut)
			y.cut(unknown, blindAfter+sec)
			y.want(ActNone)
			y.cut(unknown, time.Hour)
			y.receipt("h", false)
			y.read(off, time.Hour+sec, nil)
			y.lacks(resource.CondForcedUnread)
			y.read(off, time.Hour+7*sec, nil)
			y.receipt("h", true)
			proved := time.Hour + 7*sec
			y.cut(unknown, proved+sec)
			y.cut(unknown, proved+sec+blindAfter)
			y.want(ActNone) // it was proved Off, and nothing else was read since
			y.receipt("h", true)
			y.cut(unknown, proved+gapBound(y.s.Settings, 0)+sec)
			y.want(ActForceOff) // what was between, nobody knows
			y.receipt("h", false)
			y.happened(resource.EventReceiptVoid)
		},
		"an approval is needed for that too": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				s.Holds = held(resource.StopHard, "h")
				s.Bulk = Bulk{Key: true, Bound: 1, Others: 1}
			})
			y.cut(unknown, 0)
			y.cut(unknown, blindAfter)
			y.want(ActNone)
			y.condition(resource.CondApprovalNeeded)
		},
		"a BMC that does not answer at all is sent nothing": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			y.read(protocol.PowerUnreachable, 0, nil)
			y.read(protocol.PowerUnreachable, time.Hour, nil)
			y.want(ActNone)
		},
		"unreadable reads come less and less often": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h") })
			reads := 0
			for d := time.Duration(0); d < 10*time.Minute; d = y.p.RecheckAt.Sub(at(0)) {
				y.cut(unknown, d)
				reads++
			}
			if reads > 70 {
				t.Errorf("%d reads in ten minutes", reads)
			}
		},
		"an override that nothing takes away is left, stored and shown": func(t *testing.T) {
			y := story(t, nil)
			y.arms(protocol.BootStored, once(protocol.TargetUefiHTTP), once(protocol.TargetUefiHTTP))
			y.want(ActOn)
			y.read(off, 2*sec, y.answered(protocol.CodeUnsupported))
			y.s.Intent.Releasing = true
			d := 40 * sec
			y.read(off, d, nil)
			for _, want := range []protocol.Override{disarmed(), {Target: protocol.TargetNone}, {Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce, Mode: "UEFI"}} {
				y.want(ActDisarm)
				if got := y.p.Action.Override; got != want {
					t.Fatalf("writes %+v, want %+v", got, want)
				}
				r := y.answered(protocol.CodeInvalid)
				r.Outcome, r.Stored, r.Fault = protocol.BootUnsupported, y.bmc, protocol.BMCFault{Kind: protocol.FaultRefused, Status: 400, MessageID: "Base.1.13.PropertyValueNotInList"}
				d += sec
				y.read(off, d, r)
			}
			y.condition(resource.CondOverrideLeft)
			l := y.p.Record.Residue.Kept()
			if l == nil || l.Override != y.bmc || l.Fault.Status != 400 {
				t.Fatalf("stored is %+v", l)
			}
			y.restart()
			y.read(off, d+sec, nil)
			y.want(ActNone)
			y.condition(resource.CondOverrideLeft)
			y.read(off, d+10*sec, nil)
			if y.p.Record.Owners.Released != y.s.Intent.Owner.UID {
				t.Fatal("the claim does not end")
			}
			y.bmc = disarmed() // somebody cleared it at the BMC's page
			y.read(off, d+20*sec, nil)
			y.lacks(resource.CondOverrideLeft)
		},
		"ETags that are all refused are named at once, and tried less and less often": func(t *testing.T) {
			y := story(t, nil)
			writes := 0
			for d := time.Duration(0); d < 4*time.Minute; d += sec {
				var r *Result
				if y.p.Action.Kind == ActArm {
					writes++
					r = y.answered(protocol.CodeConflict)
					r.Outcome, r.Fault = protocol.BootRefusedByState, protocol.BMCFault{Kind: protocol.FaultPrecondition, Status: 412}
				}
				y.read(off, d, r)
				if writes > 0 {
					y.condition(resource.CondETagsRefused)
					y.lacks(resource.CondBMCBusy)
				}
			}
			if writes < 3 || writes > 8 {
				t.Errorf("%d writes in four minutes", writes)
			}
		},
		"a BMC without a session left is read, and that is said": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.Power = resource.WantOff })
			y.s.Observation = seen(off, 0)
			y.s.Observation.Fault = protocol.BMCFault{Kind: protocol.FaultSessions, Status: 403}
			y.step(0)
			y.condition(resource.CondSessionsFull)
			y.read(off, sec, nil)
			y.lacks(resource.CondSessionsFull)
		},
	} {
		t.Run(name, tell)
	}
}

// cut reads an answer that is cut off.
func (y *play) cut(p protocol.PowerState, d time.Duration) {
	y.t.Helper()
	y.s.Observation = seen(p, d)
	y.s.Observation.Fault = protocol.BMCFault{Kind: protocol.FaultCut, Text: "unexpected end of JSON input"}
	y.step(d)
}

// fails reads that the Task of a reset has failed.
func (y *play) fails(reset string, p protocol.PowerState, d time.Duration) {
	y.t.Helper()
	y.s.Observation = seen(p, d)
	y.s.Observation.Order = protocol.BMCFault{Kind: protocol.FaultTask, MessageID: "Base.1.13.InternalError", Reset: reset}
	y.step(d)
}
