package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func firmwareStages() []string {
	return append(doctable.Words(resource.FirmwareStages()...), "none")
}

func TestFirmwareTable(t *testing.T) {
	doctable.Of(t, "firmwarerun.go", "firmwareRule").Hold(t, [][]string{
		firmwareStages(), doctable.Words(isOff, isOn, isOther), doctable.Words(setupNone, setupBooted, setupFailed), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		y := func(i int) bool { return in[i] == "yes" }
		st := resource.FirmwareStage(in[0])
		if st == "none" {
			st = ""
		}
		return doctable.Words(firmwareRule(firmwareFacts{st, running(in[1]), setupIs(in[2]), y(3), y(4), y(5), y(6), y(7), y(8)}))
	})
}

func TestFirmwareReadTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "firmwareset.go", "readRule").Hold(t, [][]string{yn, yn, yn, yn, yn, yn, yn}, func(in []string) []string {
		y := func(i int) bool { return in[i] == "yes" }
		return doctable.Words(readRule(readFacts{first: y(0), hindered: y(1), wanted: y(2), left: y(3), writable: y(4), setup: y(5), passes: y(6)}))
	})
	doctable.Of(t, "firmwareset.go", "hindranceRule").Hold(t, [][]string{yn, yn, yn, yn, yn}, func(in []string) []string {
		h := hindranceRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "yes")
		if h == "" {
			h = "none"
		}
		return doctable.Words(h)
	})
	doctable.Of(t, "firmwareset.go", "stoodRule").Hold(t, [][]string{yn, yn, doctable.Words(resource.FirmwareStandings()...)}, func(in []string) []string {
		return doctable.Words(stoodRule(in[0] == "yes", in[1] == "yes", resource.FirmwareStanding(in[2])))
	})
	doctable.Of(t, "firmwares.go", "tookRule").Hold(t, [][]string{append(doctable.Words(FirmwareTookNow, FirmwareTookNext, FirmwareTookDark, FirmwareTookNot), "nothing"), yn}, func(in []string) []string {
		took := FirmwareTook(in[0])
		if took == "nothing" {
			took = ""
		}
		return doctable.Words(tookRule(took, in[1] == "yes"))
	})
}
