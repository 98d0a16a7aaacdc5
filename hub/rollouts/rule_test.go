package rollouts

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func isYes(word string) bool { return word == "yes" }

func TestRolloutTables(t *testing.T) {
	yn := doctable.YesNo()
	power := doctable.Words(powerOn, powerOff)
	doctable.Of(t, "server.go", "downRule").HoldOne(t, [][]string{yn, yn, yn, yn, yn, yn, power}, func(in []string) string {
		down := string(downRule(isYes(in[0]), isYes(in[1]), isYes(in[2]), isYes(in[3]), isYes(in[4]), isYes(in[5]), powerSeen(in[6])))
		if down == "" {
			return "up"
		}
		return down
	})
	asked := doctable.Words(askedPending, askedEnded, askedGone)
	doctable.Of(t, "server.go", "orderRule").HoldOne(t, [][]string{yn, asked, power, yn}, func(in []string) string {
		return yes(orderRule(isYes(in[0]), askedFor(in[1]), powerSeen(in[2]), isYes(in[3])))
	})
	of := doctable.Words(saidOther, saidThis, saidFormer)
	doctable.Of(t, "ready.go", "lackRule").HoldOne(t, [][]string{yn, yn, of, yn}, func(in []string) string {
		return string(lackRule(isYes(in[0]), isYes(in[1]), generationSaid(in[2]), isYes(in[3])))
	})
	doctable.Of(t, "seat.go", "gaveUpRule").HoldOne(t, [][]string{yn, yn, yn}, func(in []string) string {
		return yes(gaveUpRule(isYes(in[0]), isYes(in[1]), isYes(in[2])))
	})
	phases := doctable.Words(resource.RolloutPhases()...)
	doctable.Of(t, "tell.go", "rolloutNews").HoldOne(t, [][]string{phases, phases, yn}, func(in []string) string {
		if said := rolloutNews(resource.RolloutPhase(in[1]), resource.RolloutPhase(in[0]), isYes(in[2])); said != "" {
			return said
		}
		return "nothing"
	})
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
