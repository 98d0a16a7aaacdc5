package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestIgnitionTable(t *testing.T) {
	doctable.Of(t, "ignition.go", "ignitionRule").Hold(t,
		[][]string{doctable.Words(ignitionNone, ignitionEarly, ignitionOpen, ignitionReported), doctable.YesNo(), doctable.Words(ignitionPrivate, ignitionSegment, ignitionOpenly), doctable.YesNo(), doctable.Words(WhoseOwn, WhoseOther, WhoseNobody, WhoseUnknown)},
		func(in []string) []string {
			return doctable.Words(ignitionRule(in[1] == "yes", ignitionStage(in[0]), ignitionBy(in[2]), in[3] == "yes", Whose(in[4])))
		})
}

// Which attempts have user data, and when: facts boot-policy row 30.
func TestIgnition(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*Attempt)
		token  string
		held   bool
		want   IgnitionVerdict
	}{
		{"fetched", func(*Attempt) {}, "t", false, IgnitionGive},
		{"firmware asks", func(a *Attempt) { a.Stage.State, a.Marks.Served = resource.AttemptConsumed, false }, "t", false, IgnitionEarly},
		{"the kernel is being sent", func(a *Attempt) { a.Stage.State = resource.AttemptConsumed }, "t", false, IgnitionGive},
		{"two machines say they are it", func(a *Attempt) { a.Claimants.Second = &Claimant{} }, "t", false, IgnitionDisputed},
		{"one that does not fit says it is it", func(a *Attempt) { a.Claimants.Foreign = &Claimant{} }, "t", false, IgnitionGive},
		{"not powered on yet", func(a *Attempt) { a.Stage.State = resource.AttemptArmed }, "t", false, IgnitionClosed},
		{"failed", func(a *Attempt) { a.Stage.State = resource.AttemptFailed }, "t", false, IgnitionClosed},
		{"installed", func(a *Attempt) { a.Stage.State = resource.AttemptSucceeded }, "t", false, IgnitionOver},
		{"booted from disk", func(a *Attempt) { a.Stage.State, a.Order.Target = resource.AttemptSucceeded, protocol.TargetHdd }, "t", false, IgnitionClosed},
		{"none", func(a *Attempt) { a.Order.Ignition = nil }, "t", false, IgnitionClosed},
		{"another token", func(*Attempt) {}, "u", false, IgnitionClosed},
		{"no token", func(a *Attempt) { a.Token = "" }, "", false, IgnitionClosed},
		{"held", func(*Attempt) {}, "t", true, IgnitionClosed},
	} {
		a := &Attempt{Token: "t", Marks: Marks{Served: true}, Stage: Stage{State: resource.AttemptFetched}, Order: Order{Target: protocol.TargetUefiHTTP, Ignition: &message.IgnitionIntent{}}}
		row.change(a)
		if got := Ignition(row.held, false, a, row.token, WhoseOwn, false); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if got := Ignition(false, false, nil, "t", WhoseOwn, false); got != IgnitionClosed {
		t.Errorf("without a boot: %s", got)
	}
}

// A delivery is an event once, and so is each kind of refusal, however often it happens;
// a delivery makes nothing of the boot.
func TestUserDataEvents(t *testing.T) {
	snap := Snapshot{Server: "n1", Synced: true, Passive: true, Record: Record{Attempt: &Attempt{
		ID: "a", Token: "t", Stage: Stage{State: resource.AttemptConsumed}, Order: Order{Target: protocol.TargetUefiHTTP, Ignition: &message.IgnitionIntent{Secret: "s", Version: 2}},
	}}}
	delivered := Event{Kind: protocol.EvidenceFetched, File: protocol.FileIgnition, Token: "t"}
	count := map[resource.EventCode]int{}
	for range 3 {
		for _, e := range []Event{
			{UserData: IgnitionGive, Token: "t"},
			delivered,
			{UserData: IgnitionStranger, Token: "t"},
			{UserData: IgnitionOver, Token: "t"},
			{UserData: IgnitionStranger, Token: "u"},
			{Kind: protocol.EvidenceFetched, File: protocol.FileIgnition, Token: "u"},
		} {
			snap.Events = []Event{e}
			plan := Step(time.Unix(1e9, 0), snap)
			snap.Record = plan.Record
			for _, h := range plan.Happened {
				count[h.Code]++
			}
		}
	}
	a := snap.Record.Attempt
	if count[resource.EventUserDataDelivered] != 1 || count[resource.EventUserDataRefused] != 2 || len(count) != 2 {
		t.Errorf("events %v", count)
	}
	if !a.Marks.Given || a.Marks.Deliveries != 3 || a.Stage.State != resource.AttemptConsumed || a.Stage.Evidence != "" {
		t.Errorf("the attempt is %+v", a)
	}
}
