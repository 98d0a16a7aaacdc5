package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestLateTable(t *testing.T) {
	codes := []string{string(resource.AttemptOverrideIgnored), string(resource.AttemptReplaced), string(resource.AttemptPowerFailed), string(resource.AttemptNoDHCP)}
	doctable.Of(t, "lateboot.go", "lateRule").Hold(t, [][]string{doctable.YesNo(), codes, doctable.Words(isOn, isOff, isPaused, isOther), doctable.Words(armedOurs, armedOther, armedNone)},
		func(in []string) []string {
			took := "no"
			if lateRule(in[0] == "yes", resource.AttemptCode(in[1]), running(in[2]), armed(in[3])) {
				took = "yes"
			}
			return []string{took}
		})
}

// TestLateBoot: firmware takes the override to the disk after the agent has given up on
// it. The boot has succeeded, and its condition ends.
func TestLateBoot(t *testing.T) {
	const given = 3*sec + consumeTimeout
	for name, tt := range map[string]struct {
		between func(y *play)
		want    resource.AttemptState
	}{
		"POST takes longer than that":                 {between: func(*play) {}, want: resource.AttemptSucceeded},
		"it went Off, and what was armed was cleared": {between: func(y *play) { y.bmc = protocol.Override{}; y.read(protocol.PowerOff, given+sec, nil) }, want: resource.AttemptFailed},
		"the agent is restarted":                      {between: func(y *play) { y.restart() }, want: resource.AttemptSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			y.keeps = true
			y.read(protocol.PowerOff, 0, nil)
			y.read(protocol.PowerOff, sec, y.answered(""))
			y.read(protocol.PowerOn, 3*sec, y.answered(""))
			y.read(protocol.PowerOn, given, nil)
			if a := y.p.Record.Attempt; a.Stage.Ending.Code != resource.AttemptOverrideIgnored {
				t.Fatalf("%s (%s: %s)", a.Stage.State, a.Stage.Ending.Code, a.Stage.Ending.Reason)
			}
			y.condition(resource.CondPowerFailed)
			tt.between(y)
			y.keeps = false
			y.read(protocol.PowerOn, given+10*sec, nil)
			if a := y.p.Record.Attempt; a.Stage.State != tt.want {
				t.Errorf("%s (%s), want %s", a.Stage.State, a.Stage.Ending.Reason, tt.want)
			}
			if tt.want == resource.AttemptSucceeded {
				y.lacks(resource.CondPowerFailed)
				y.happened(resource.EventDiskBoot)
			} else {
				y.condition(resource.CondPowerFailed)
			}
		})
	}
}
