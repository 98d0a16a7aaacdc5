package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestAttemptCodeTable(t *testing.T) {
	doctable.Of(t, "attemptcode.go", "codeRule").Hold(t, [][]string{
		doctable.Words(resource.AttemptStates()...), doctable.Words(isOff, isOn, isOther), doctable.Words(armedOurs, armedOther, armedNone), doctable.YesNo(), doctable.Words(askedNot, askedOrdered, askedHTTP, askedPXE, askedOther),
	}, func(in []string) []string {
		code := codeRule(resource.AttemptState(in[0]), running(in[1]), armed(in[2]), in[3] == "yes", askedBy(in[4]))
		if f, ok := resource.LookupAttempt(code); !ok || f.Hint == "" {
			t.Errorf("%s is not registered", code)
		}
		return doctable.Words(code)
	})
}

func TestTakeTable(t *testing.T) {
	doctable.Of(t, "owner.go", "takeRule").Hold(t, [][]string{doctable.Words(runsThis, runsOther, runsNobody), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return []string{yesNo(takeRule(runsFor(in[0]), in[1] == "yes", in[2] == "yes"))}
		})
}

func TestReportTable(t *testing.T) {
	doctable.Of(t, "owner.go", "takesKind").Hold(t, [][]string{
		doctable.Words(resource.Purposes()...), doctable.YesNo(),
		doctable.Words(protocol.EvidenceDHCP, protocol.EvidenceFetched, protocol.EvidenceInstalled, protocol.EvidenceBooted, protocol.EvidenceDiscovered, protocol.EvidenceFailed),
	}, func(in []string) []string {
		return []string{yesNo(takesKind(resource.Purpose(in[0]), in[1] == "yes", protocol.EvidenceKind(in[2])))}
	})
}

func TestRearmTable(t *testing.T) {
	doctable.Of(t, "rearm.go", "rearmRule").Hold(t, [][]string{{"network", "disk"}, doctable.Words(resource.OSReboots()...), doctable.Words(lastNone, lastInstalled, lastDisk)},
		func(in []string) []string {
			return []string{yesNo(rearmRule(in[0] == "network", resource.OSReboot(in[1]), lastBoot(in[2])))}
		})
}

func TestRearmStepTable(t *testing.T) {
	tb := doctable.Of(t, "rearm.go", "rearmStep")
	tb.Else = func(in []string) []string { return []string{in[2], string(rearmNothing)} }
	tb.Hold(t, [][]string{doctable.YesNo(), doctable.Words(isOff, isOn, isOther), doctable.Words(rearmStates...), doctable.Words(armedOurs, armedOther, armedNone)},
		func(in []string) []string {
			next, act := rearmStep(in[0] == "yes", running(in[1]), RearmState(in[2]), armed(in[3]))
			return []string{string(next), string(act)}
		})
}
