package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestDestructiveTable(t *testing.T) {
	doctable.Of(t, "destructive.go", "destructiveRule").Hold(t,
		[][]string{doctable.Words(actStop, actRelease, actGrant, actWipe, actFirmware), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(destructiveRule(destructive(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "yes"))
		})
}

func TestClearTable(t *testing.T) {
	doctable.Of(t, "destructive.go", "clearRule").Hold(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			y := func(i int) bool { return in[i] == "yes" }
			return doctable.Words(clearRule(y(0), y(1), y(2), y(3), y(4), y(5)))
		})
}

func TestApprovalTable(t *testing.T) {
	doctable.Of(t, "destructive.go", "approvalRule").Hold(t,
		[][]string{{"good", "bad"}, doctable.YesNo(), doctable.Words(approvalEarly, approvalValid, approvalOver)},
		func(in []string) []string {
			return doctable.Words(approvalRule(in[0] == "good", in[1] == "yes", approvalTime(in[2])))
		})
}

// The time of an approval is from NotBefore on, and up to NotAfter.
func TestApprovalTime(t *testing.T) {
	from := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	a := resource.Approval{NotBefore: from, NotAfter: from.Add(time.Hour)}
	for _, tt := range []struct {
		at   time.Duration
		want bool
	}{{-1, false}, {0, true}, {time.Hour - 1, true}, {time.Hour, false}} {
		if got := ApprovalCounts(from.Add(tt.at), a); got != tt.want {
			t.Errorf("at %s: %t", tt.at, got)
		}
	}
}

// forcing is a server with a hard hold that was read On.
func forcing(b Bulk) Snapshot {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	o := protocol.Observation{Server: "n1", StartedAt: now, ReadAt: now, Power: protocol.PowerOn}
	return Snapshot{
		Server: "n1", Synced: true, Intent: &message.ServerIntent{Server: "n1"}, Bulk: b,
		Settings:    Settings{SoftTimeout: time.Minute, SettleWindow: time.Second, PollInterval: time.Second},
		Holds:       []Hold{{ActiveHold: resource.ActiveHold{ID: "h1", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}}}},
		Record:      Record{Shown: Shown{Power: protocol.PowerOn}},
		Observation: &o,
	}
}

// A stop that waits is done by an approval, and not by room that comes back; once it was
// let through, it is sent again without another.
func TestBulkStop(t *testing.T) {
	s := forcing(Bulk{Key: true, Bound: 2, Others: 2, Window: time.Minute})
	now := s.Observation.ReadAt
	step := func(b Bulk) Plan {
		now = now.Add(resendForce)
		o := *s.Observation
		o.StartedAt, o.ReadAt = now, now
		s.Observation, s.Bulk = &o, b
		p := Step(now, s)
		s.Record, s.Watch = p.Record, p.Watch
		return p
	}
	waits := func(p Plan, what string) {
		t.Helper()
		if p.Action.Kind != ActNone || !p.Record.Stop.Waits || p.Cleared != (Clearance{}) {
			t.Errorf("%s: action %s, %+v", what, p.Action.Kind, p.Cleared)
		}
		found := false
		for _, c := range p.Record.Conditions {
			found = found || c.Code == resource.CondApprovalNeeded
		}
		if !found {
			t.Errorf("%s: no condition: %+v", what, p.Record.Conditions)
		}
	}
	waits(step(s.Bulk), "no room")
	waits(step(Bulk{Key: true, Bound: 2, Others: 0, Window: time.Minute}), "room again")
	p := step(Bulk{Key: true, Bound: 2, Others: 2, Window: time.Minute, Approval: "a1"})
	if p.Action.Kind != ActForceOff || p.Cleared.How != ClearSpend || p.Cleared.Approval != "a1" || p.Record.Stop.Waits {
		t.Errorf("approved: %s, %+v", p.Action.Kind, p.Cleared)
	}
	p = step(Bulk{Key: true, Bound: 2, Others: 2, Window: time.Minute})
	if p.Action.Kind != ActForceOff || p.Cleared != (Clearance{}) {
		t.Errorf("again: %s, %+v", p.Action.Kind, p.Cleared)
	}
}

// A server that was powered on under its hold is forced off whatever the bound (P2).
func TestViolatedIsNotBounded(t *testing.T) {
	s := forcing(Bulk{Key: true, Bound: 1, Others: 5, Window: time.Minute})
	s.Record.Holds.Violated = map[string]time.Time{"h1": s.Observation.ReadAt}
	if p := Step(s.Observation.ReadAt, s); p.Action.Kind != ActForceOff {
		t.Errorf("action %s", p.Action.Kind)
	}
}
