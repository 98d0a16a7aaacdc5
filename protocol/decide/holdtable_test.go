package decide

import (
	"testing"

	"rackboot/protocol"
)

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestAcceptTable(t *testing.T) {
	readTable(t, "request.go", "acceptRule").check(t, [][]string{
		{"own", "foreign"},
		words(hourUnknown, hourAhead, hourPassed), words(protocol.RequestReboot, protocol.RequestPowerOff, "other"), yesno,
		words(claimAbsent, claimOn, claimOff, claimEnds),
		{"network", "other"},
		yesno,
	}, 1, none, func(in []string) []string {
		o, reason := acceptRule(in[0] == "foreign", hour(in[1]), protocol.RequestAction(in[2]), in[3] == "yes", claimed(in[4]), in[5] == "network", in[6] == "yes")
		if (o == protocol.OutcomePending || o == outcomeWaits) != (reason == "") {
			t.Errorf("%v: an end has a reason, and nothing else has: %q", in, reason)
		}
		return words(o)
	})
}

func TestFollowTable(t *testing.T) {
	readTable(t, "follow.go", "followRule").check(t, [][]string{
		words(protocol.RequestReboot, protocol.RequestPowerOff), words(claimAbsent, claimOn, claimOff, claimEnds), yesno, yesno,
		words(tardyNo, tardyUnsent, tardyAway), words(ranNot, ranOurs, ranOther), yesno,
	}, 1, none, func(in []string) []string {
		action, claim := protocol.RequestAction(in[0]), claimed(in[1])
		o, reason := followRule(action, claim, in[2] == "yes", in[3] == "yes", tardy(in[4]), ran(in[5]), in[6] == "yes")
		restored := action == protocol.RequestPowerOff || claim == claimOn
		if explained := reason != ""; explained == (o == protocol.OutcomePending || o == protocol.OutcomeDone && restored) {
			t.Errorf("%v: %s, %q: all but what went well has a reason", in, o, reason)
		}
		return words(o)
	})
}

func TestTriggerTable(t *testing.T) {
	readTable(t, "trigger.go", "triggerRule").check(t, [][]string{yesno, words(isOff, isOn, isOther), yesno, {"On", "Off", "none"}}, 2, none,
		func(in []string) []string {
			mark, to := triggerRule(in[0] == "yes", running(in[1]), in[2] == "yes", power(in[3]))
			return []string{yes(mark), string(to)}
		})
}

func TestExpiryTable(t *testing.T) {
	readTable(t, "expiry.go", "expiryRule").check(t, [][]string{{"none", "some"}, yesno, yesno, words(protocol.ExpiryKeep, protocol.ExpiryRelease, "", "later")}, 1, none,
		func(in []string) []string {
			return words(expiryRule(in[0] == "some", in[1] == "yes", in[2] == "yes", protocol.OnExpiry(in[3])))
		})
}

func TestPermitTable(t *testing.T) {
	readTable(t, "firmware.go", "permit").check(t, [][]string{
		words(ActArm, ActDisarm, ActOn, ActGraceful, ActForceOff, ActReadPolicy, ActGuard, ActUnguard), words(holdsNone, holdsPlain, holdsForced), yesno,
	}, 1, none, func(in []string) []string {
		return []string{yes(permit(ActionKind(in[0]), holding(in[1]), in[2] == "yes"))}
	})
}

func proofs() []string { return words(proofNone, proofReads, proofWord) }

func sights() []string {
	return words(sightUnread, sightUnknown, sightSilent, sightOff, sightRuns)
}

func TestConfirmTable(t *testing.T) {
	readTable(t, "confirm.go", "confirmRule").check(t, [][]string{sights(), proofs()}, 1, none,
		func(in []string) []string { return words(confirmRule(sight(in[0]), proof(in[1]))) })
}

func TestStandTable(t *testing.T) {
	readTable(t, "holdstate.go", "standRule").check(t, [][]string{sights(), proofs(), yesno, words(haltingNone, haltingSoft, haltingForced)}, 1, none,
		func(in []string) []string {
			state := standRule(sight(in[0]), proof(in[1]), in[2] == "yes", halting(in[3]))
			if state == protocol.StateFenced && (proof(in[1]) != proofReads || sight(in[0]) != sightOff) {
				t.Errorf("%v is %s", in, state)
			}
			return words(state)
		})
}

func TestGuardTable(t *testing.T) {
	readTable(t, "guard.go", "guardRule").check(t, [][]string{yesno, words(GuardNone, GuardKnown, GuardSet, GuardCannot), {"other", "same"}}, 1, none,
		func(in []string) []string {
			k, forget := guardRule(in[0] == "yes", Guarding(in[1]), in[2] == "other")
			if forget {
				return []string{"forget"}
			}
			return words(k)
		})
}
