package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
)

func at(d time.Duration) time.Time { return worldStart.Add(d) }

// given is a synced, claimed, granted server of which nothing was read.
func given() Snapshot {
	w := world{}
	w.claim(3)
	return Snapshot{
		Server: "server-1", Synced: true, Intent: w.intent, Grant: w.grant, Settings: w.settings(),
		HubTime: at(0), Incarnation: "disk-1", Artefacts: Artefacts{Local: true}, Record: Record{Server: "server-1"}, NewID: "id", NewToken: "token",
	}
}

func provisionedBy(claim string) *protocol.Provisioned {
	return &protocol.Provisioned{ClaimUID: claim, Generation: 1}
}

func seen(p protocol.PowerState, d time.Duration) *protocol.Observation {
	return &protocol.Observation{Server: "server-1", Power: p, StartedAt: at(d), ReadAt: at(d)}
}

func held(mode protocol.StopMode, ids ...string) (holds []Hold) {
	for _, id := range ids {
		holds = append(holds, Hold{EnforcedAt: at(0), ActiveHold: protocol.ActiveHold{ID: id, Key: id, Mode: mode}})
	}
	return holds
}

// play feeds one server's story to Step, one read after the other.
type play struct {
	t *testing.T
	s Snapshot
	p Plan
	// bmc is the override that the BMC holds; keeps is a BMC that keeps it On.
	bmc   protocol.Override
	keeps bool
}

func story(t *testing.T, change func(*Snapshot)) *play {
	t.Helper()
	s := given()
	if change != nil {
		change(&s)
	}
	return &play{t: t, s: s}
}

// read steps with a read begun after d, and the given result of the last action.
func (y *play) read(p protocol.PowerState, d time.Duration, r *Result) Plan {
	y.t.Helper()
	y.s.Observation, y.s.Result = seen(p, d), r
	if p == protocol.PowerOn && !y.keeps {
		y.bmc = protocol.Override{} // firmware took it
	}
	y.s.Observation.Override = y.bmc
	y.p = Step(at(d), y.s)
	y.s.Record, y.s.Watch = y.p.Record, y.p.Watch
	y.s.Observation, y.s.Result, y.s.Events = nil, nil, nil
	return y.p
}

// restart is a crash of the agent: what was not on disk is gone.
func (y *play) restart() { y.s.Watch, y.s.Record = Watch{}, Recover(y.s.Record) }

func (y *play) want(act ActionKind) {
	y.t.Helper()
	if y.p.Action.Kind != act {
		y.t.Fatalf("action %s, want %s; record %+v, attempt %+v", y.p.Action.Kind, act, y.p.Record, y.p.Record.Attempt)
	}
}

func (y *play) receipt(id string, want bool) {
	y.t.Helper()
	if _, got := y.p.Record.Receipts[id]; got != want {
		y.t.Fatalf("receipt of %s: %t, want %t", id, got, want)
	}
}

func (y *play) happened(code protocol.EventCode) {
	y.t.Helper()
	if !slices.ContainsFunc(y.p.Happened, func(e protocol.Event) bool { return e.Code == code }) {
		y.t.Fatalf("no event %s in %v", code, y.p.Happened)
	}
}

func (y *play) condition(code protocol.ConditionCode) {
	y.t.Helper()
	if !slices.ContainsFunc(y.p.Record.Conditions, func(c protocol.ConditionState) bool { return c.Code == code }) {
		y.t.Fatalf("no condition %s in %v", code, y.p.Record.Conditions)
	}
}

// answered is the BMC's answer to the play's last action.
func (y *play) answered(code protocol.Code) *Result {
	outcome := protocol.BootOutcome("")
	if y.p.Action.Kind == ActArm || y.p.Action.Kind == ActDisarm {
		if outcome = protocol.BootUnknown; code == "" {
			y.bmc, outcome = y.p.Action.Override, protocol.BootStored
		}
	}
	return &Result{Action: y.p.Action.Kind, Attempt: y.p.Action.Attempt, Code: code, Outcome: outcome, Stored: y.bmc, Read: y.bmc, At: y.s.Watch.Last.ReadAt}
}
