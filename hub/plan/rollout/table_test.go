package rollout

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func yes(word string) bool { return word == "yes" }

func gates() []gate {
	return []gate{gateOpen, gatePaused, gateFrozen, gateFailed, gateClosed, gateWrong}
}

func strategies() []string { return doctable.Words(resource.RolloutStrategies()...) }

func TestGateTable(t *testing.T) {
	doctable.Of(t, "gate.go", "gateRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.Words(windowOpen, windowClosed, windowWrong),
	}, func(in []string) string {
		return string(gateRule(yes(in[0]), yes(in[1]), yes(in[2]), window(in[3])))
	})
}

func TestMemberTable(t *testing.T) {
	doctable.Of(t, "member.go", "memberRule").HoldOne(t, [][]string{
		doctable.Words(resource.MemberStates()...), doctable.Words(sights...), doctable.Words(places...), doctable.Words(timeLeft, timeOver),
	}, func(in []string) string {
		return string(memberRule(resource.MemberState(in[0]), sight(in[1]), place(in[2]), clock(in[3])))
	})
}

func TestTakeTable(t *testing.T) {
	doctable.Of(t, "take.go", "takeRule").HoldOne(t, [][]string{
		strategies(), doctable.Words(gates()...), doctable.Words(spotServing, spotFailed, spotNone), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) string {
		return string(takeRule(resource.RolloutStrategy(in[0]), gate(in[1]), spot(in[2]), yes(in[3]), yes(in[4]), yes(in[5])))
	})
}

func TestWaveTable(t *testing.T) {
	doctable.Of(t, "wave.go", "waveRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.Words(wavesHave...), doctable.YesNo(),
	}, func(in []string) string { return string(waveRule(yes(in[0]), has(in[1]), yes(in[2]))) })
}

func TestFailTable(t *testing.T) {
	doctable.Of(t, "fail.go", "failRule").HoldOne(t, [][]string{
		doctable.Words(resource.OnFailurePause, resource.OnFailureRollback, "unknown"), doctable.YesNo(),
	}, func(in []string) string { return string(failRule(resource.RolloutFailure(in[0]), yes(in[1]))) })
}

func TestBackTable(t *testing.T) {
	doctable.Of(t, "giveback.go", "backRule").HoldOne(t, [][]string{
		doctable.Words(resource.MemberStates()...), doctable.Words(bootsTarget, bootsOther), doctable.Words(places...),
	}, func(in []string) string {
		return string(backRule(resource.MemberState(in[0]), boots(in[1]), place(in[2])))
	})
}

func TestCommandTable(t *testing.T) {
	doctable.Of(t, "command.go", "commandRule").HoldOne(t, [][]string{
		doctable.Words(commands...), doctable.Words(resource.RolloutPhases()...), doctable.YesNo(), doctable.Words(atUnproved, atLast, atOther),
	}, func(in []string) string {
		return string(commandRule(Command(in[0]), resource.RolloutPhase(in[1]), yes(in[2]), wavePlace(in[3])))
	})
}
