package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// power reads the word of a claim's power.
func power(word string) resource.Power {
	if word == "none" {
		return ""
	}
	return resource.Power(word)
}

func TestGoalTable(t *testing.T) {
	doctable.Of(t, "goal.go", "goal").Hold(t, [][]string{
		doctable.YesNo(), doctable.Words(holdsNone, holdsPlain, holdsForced), doctable.YesNo(), doctable.YesNo(), doctable.Words(askedNothing, askedReboot, askedOff), {"On", "Off", "none"}, doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return doctable.Words(goal(goalFacts{in[0] == "yes", holding(in[1]), in[2] == "yes", in[3] == "yes", asked(in[4]), power(in[5]), in[6] == "yes", in[7] == "yes"}))
	})
}

func TestStopTable(t *testing.T) {
	doctable.Of(t, "stop.go", "stopStep").Hold(t,
		[][]string{doctable.Words(protocol.PowerStates()...), doctable.Words(resource.StopSoft, resource.StopHard), doctable.Words(stages...)},
		func(in []string) []string {
			return doctable.Words(stopStep(protocol.PowerState(in[0]), resource.StopMode(in[1]), stage(in[2])))
		})
}

func TestAttemptTable(t *testing.T) {
	tb := doctable.Of(t, "attempt.go", "attemptStep")
	tb.Else = func(in []string) []string { return []string{in[0], string(ActNone)} }
	tb.Hold(t,
		[][]string{doctable.Words(resource.AttemptStates()...), doctable.YesNo(), doctable.Words(isOff, isOn, isOther), doctable.Words(armedOurs, armedOther, armedNone), doctable.Words(timerRun, timerResend, timerExpired)},
		func(in []string) []string {
			next, act, reason := attemptStep(resource.AttemptState(in[0]), in[1] == "yes", running(in[2]), armed(in[3]), timer(in[4]))
			if (next == resource.AttemptFailed && in[0] != string(next)) != (reason != "") {
				t.Errorf("%v: a failure has a reason, and nothing else has: %q", in, reason)
			}
			return []string{string(next), string(act)}
		})
}

func TestServeTable(t *testing.T) {
	doctable.Of(t, "serve.go", "serveRule").Hold(t,
		[][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.Words(windowClosed, windowHTTP, windowIPXE, windowTFTP, windowAny, windowMedia), doctable.Words(protocol.ClientClasses()...), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			a, reason := serveRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", serveWho{in[3] == "yes", in[4] == "yes"}, window(in[5]), protocol.ClientClass(in[6]), in[7] == "yes", in[8] == "yes")
			if reason == "" {
				t.Errorf("%v: no reason", in)
			}
			return doctable.Words(a)
		})
}

func TestPhaseTable(t *testing.T) {
	doctable.Of(t, "phase.go", "phaseRule").Hold(t,
		[][]string{doctable.Words(claimNone, claimBound, claimReleasing, claimMaintained, claimDiscovered, claimUndiscovered, claimGivenUp, claimOrphaned), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(phaseRule(claimState(in[0]), in[1] == "yes", in[2] == "yes"))
		})
}

func TestArmTable(t *testing.T) {
	doctable.Of(t, "arm.go", "armRule").Hold(t, [][]string{doctable.Words(protocol.BootOutcomes()...), doctable.Words(faultNone, faultBusy, faultNever, faultOther)},
		func(in []string) []string { return doctable.Words(armRule(protocol.BootOutcome(in[0]), fault(in[1]))) })
}

func TestResetTable(t *testing.T) {
	doctable.Of(t, "reset.go", "resetRule").Hold(t, [][]string{doctable.Words(movedFirst, movedSame, movedEarlier, movedLater), {"seen", "none"}, {"ours", "none"}},
		func(in []string) []string {
			if resetRule(moved(in[0]), in[1] == "seen", in[2] == "ours") {
				return []string{"yes"}
			}
			return []string{"no"}
		})
}

func TestIdentityTable(t *testing.T) {
	doctable.Of(t, "identity.go", "identityRule").Hold(t, [][]string{doctable.Words(identifiedFirst, identifiedSame, identifiedOther), {"nothing", "this", "another"}},
		func(in []string) []string { return []string{identityRule(identified(in[0]), in[1])} })
}
