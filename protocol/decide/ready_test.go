package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestReadyTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "ready.go", "readyRule").HoldOne(t, [][]string{
		yn, doctable.Words(triggerNone, triggerOff, triggerOn), doctable.Words(isOff, isOn, isOther), doctable.Words(discoveryNone, discoveryOver, discoveryStays), yn, yn,
	}, func(in []string) string {
		return string(readyRule(readyFacts{is(in[0]), triggered(in[1]), running(in[2]), discoveryIs(in[3]), is(in[4]), is(in[5])}))
	})
}

func TestPowerTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "ready.go", "powerRule").HoldOne(t, [][]string{
		doctable.Words(restartNone, restartLater, restartNow), doctable.Words(isOff, isOn, isOther), yn, yn, yn, yn, yn, yn,
	}, func(in []string) string {
		return string(powerRule(powerFacts{restartDue(in[0]), running(in[1]), is(in[2]), is(in[3]), is(in[4]), is(in[5]), is(in[6]), is(in[7])}))
	})
}

func TestBeginTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "ready.go", "beginRule").HoldOne(t, [][]string{yn, yn, doctable.Words(leftNothing, leftGone, leftDue)}, func(in []string) string {
		return string(beginRule(beginFacts{is(in[0]), is(in[1]), leftIs(in[2])}))
	})
}
