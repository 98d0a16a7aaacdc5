package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func safeStopClasses() []string {
	return doctable.Words(protocol.SafeStopShellFirst, protocol.SafeStopNetworkFirst, protocol.SafeStopShellAvailable, protocol.SafeStopShellByBIOS, protocol.SafeStopNone, protocol.SafeStopUnknown)
}

func TestStandsTable(t *testing.T) {
	doctable.Of(t, "safestop.go", "standsRule").Hold(t,
		[][]string{doctable.Words(shownNothing, shownStopped, shownOS), doctable.Words(signNone, signAsked, signImage, signOS), doctable.YesNo(), safeStopClasses()},
		func(in []string) []string {
			return doctable.Words(standsRule(shown(in[0]), sign(in[1]), in[2] == "yes", protocol.SafeStopClass(in[3])))
		})
}

func TestProgressTable(t *testing.T) {
	classes := []string{"none"}
	for _, c := range progressClasses[1:] {
		classes = append(classes, string(c))
	}
	class := func(word string) progressClass {
		if word == "none" {
			return progressNone
		}
		return progressClass(word)
	}
	doctable.Of(t, "progress.go", "progressRule").Hold(t, [][]string{classes, classes, {"seen", "none"}, {"ours", "none"}},
		func(in []string) []string {
			return []string{yes(progressRule(class(in[0]), class(in[1]), in[2] == "seen", in[3] == "ours"))}
		})
}

func TestResumeTable(t *testing.T) {
	doctable.Of(t, "resume.go", "resumeRule").Hold(t, [][]string{
		{"own", "foreign"},
		doctable.Words(hourUnknown, hourAhead, hourPassed), doctable.YesNo(), doctable.Words(claimAbsent, claimOn, claimOff, claimEnds), doctable.YesNo(), doctable.YesNo(),
		doctable.Words(resumables...), doctable.YesNo(),
	}, func(in []string) []string {
		o, why := resumeRule(in[0] == "foreign", hour(in[1]), in[2] == "yes", claimed(in[3]), in[4] == "yes", in[5] == "yes", resumable(in[6]), in[7] == "yes")
		if (o == resource.OutcomePending || o == outcomeWaits) != (why == "") {
			t.Errorf("%v: %s %q", in, o, why)
		}
		return doctable.Words(o)
	})
}

func TestResumeFollowTable(t *testing.T) {
	doctable.Of(t, "resume.go", "resumeFollow").Hold(t, [][]string{
		doctable.Words(resumedNot, resumedSent, resumedRuns, resumedFailed), doctable.Words(claimAbsent, claimOn, claimOff, claimEnds), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		o, _ := resumeFollow(resumed(in[0]), claimed(in[1]), in[2] == "yes", in[3] == "yes", in[4] == "yes", in[5] == "yes")
		return doctable.Words(o)
	})
}

func TestRestartTable(t *testing.T) {
	tb := doctable.Of(t, "resume.go", "restartRule")
	tb.Else = func(in []string) []string { return []string{in[2]} }
	tb.Hold(t, [][]string{doctable.YesNo(), doctable.Words(resource.AttemptStates()...), doctable.Words(isOff, isOn, isOther, isPaused)},
		func(in []string) []string {
			return doctable.Words(restartRule(in[0] == "yes", resource.AttemptState(in[1]), running(in[2])))
		})
}
