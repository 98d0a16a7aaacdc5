package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestAcceptTable(t *testing.T) {
	doctable.Of(t, "request.go", "acceptRule").Hold(t, [][]string{
		{"own", "foreign"},
		doctable.Words(hourUnknown, hourAhead, hourPassed), doctable.Words(resource.RequestReboot, resource.RequestPowerOff, "other"), doctable.YesNo(),
		doctable.Words(claimAbsent, claimOn, claimOff, claimEnds),
		{"network", "other"},
		doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		o, reason := acceptRule(in[0] == "foreign", hour(in[1]), resource.RequestAction(in[2]), in[3] == "yes", claimed(in[4]), in[5] == "network", in[6] == "yes", in[7] == "yes")
		if (o == resource.OutcomePending || o == outcomeWaits) != (reason == "") {
			t.Errorf("%v: an end has a reason, and nothing else has: %q", in, reason)
		}
		return doctable.Words(o)
	})
}

func TestFollowTable(t *testing.T) {
	doctable.Of(t, "follow.go", "followRule").Hold(t, [][]string{
		doctable.Words(resource.RequestReboot, resource.RequestPowerOff), doctable.Words(claimAbsent, claimOn, claimOff, claimEnds), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
		doctable.Words(tardyNo, tardyUnsent, tardyAway), doctable.Words(ranNot, ranOurs, ranOther), doctable.YesNo(),
	}, func(in []string) []string {
		action, claim := resource.RequestAction(in[0]), claimed(in[1])
		o, reason := followRule(action, claim, in[2] == "yes", in[3] == "yes", in[4] == "yes", tardy(in[5]), ran(in[6]), in[7] == "yes")
		restored := action == resource.RequestPowerOff || claim == claimOn
		if explained := reason != ""; explained == (o == resource.OutcomePending || o == resource.OutcomeDone && restored) {
			t.Errorf("%v: %s, %q: all but what went well has a reason", in, o, reason)
		}
		return doctable.Words(o)
	})
}

func TestTriggerTable(t *testing.T) {
	doctable.Of(t, "trigger.go", "triggerRule").Hold(t, [][]string{doctable.YesNo(), doctable.Words(isOff, isOn, isOther), doctable.YesNo(), {"On", "Off", "none"}},
		func(in []string) []string {
			mark, to := triggerRule(in[0] == "yes", running(in[1]), in[2] == "yes", power(in[3]))
			return []string{yes(mark), string(to)}
		})
}

func TestExpiryTable(t *testing.T) {
	doctable.Of(t, "expiry.go", "expiryRule").Hold(t, [][]string{{"none", "some"}, doctable.YesNo(), doctable.YesNo(), doctable.Words(resource.ExpiryKeep, resource.ExpiryRelease, "", "later")},
		func(in []string) []string {
			return doctable.Words(expiryRule(in[0] == "some", in[1] == "yes", in[2] == "yes", resource.OnExpiry(in[3])))
		})
}

func TestPermitTable(t *testing.T) {
	doctable.Of(t, "firmware.go", "permit").Hold(t, [][]string{
		doctable.Words(ActArm, ActDisarm, ActOn, ActRestart, ActGraceful, ActForceOff, ActReadPolicy, ActGuard, ActUnguard, ActReadFirmware, ActWriteFirmware), doctable.Words(holdsNone, holdsPlain, holdsForced), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return []string{yes(permit(ActionKind(in[0]), holding(in[1]), in[2] == "yes", in[3] == "yes"))}
	})
}

func proofWords() []string { return doctable.Words(proofNone, proofReads, proofWord) }

func sights() []string {
	return doctable.Words(sightUnread, sightUnknown, sightSilent, sightOff, sightRuns)
}

func TestConfirmTable(t *testing.T) {
	doctable.Of(t, "confirm.go", "confirmRule").Hold(t, [][]string{sights(), proofWords()},
		func(in []string) []string { return doctable.Words(confirmRule(sight(in[0]), proof(in[1]))) })
}

func TestStandTable(t *testing.T) {
	doctable.Of(t, "holdstate.go", "standRule").Hold(t, [][]string{sights(), proofWords(), doctable.YesNo(), doctable.Words(haltingNone, haltingSoft, haltingForced)},
		func(in []string) []string {
			state := standRule(sight(in[0]), proof(in[1]), in[2] == "yes", halting(in[3]))
			if state == resource.StateFenced && (proof(in[1]) != proofReads || sight(in[0]) != sightOff) {
				t.Errorf("%v is %s", in, state)
			}
			return doctable.Words(state)
		})
}

func TestGuardTable(t *testing.T) {
	doctable.Of(t, "guard.go", "guardRule").Hold(t, [][]string{doctable.YesNo(), doctable.Words(GuardNone, GuardKnown, GuardSet, GuardCannot), {"other", "same"}},
		func(in []string) []string {
			k, forget := guardRule(in[0] == "yes", Guarding(in[1]), in[2] == "other")
			if forget {
				return []string{"forget"}
			}
			return doctable.Words(k)
		})
}
