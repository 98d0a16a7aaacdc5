package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func at(d time.Duration) time.Time { return worldStart.Add(d) }

// given is a synced, claimed, granted server of which nothing was read.
func given() Snapshot {
	w := world{}
	w.claim(3)
	return Snapshot{
		Server: "server-1", Synced: true, Intent: w.intent, Grant: w.grant, Settings: w.settings(),
		HubTime: at(0), Incarnation: "disk-1", Artefacts: Artefacts{Local: true}, Chain: ukiChain(), CanGuard: true, Record: Record{Server: "server-1"}, NewID: "id", NewToken: "token",
	}
}

func provisionedBy(claim string) *resource.Provisioned {
	return &resource.Provisioned{OwnerUID: claim, Generation: 1}
}

func seen(p protocol.PowerState, d time.Duration) *protocol.Observation {
	return &protocol.Observation{Server: "server-1", Power: p, StartedAt: at(d), ReadAt: at(d)}
}

func held(mode resource.StopMode, ids ...string) (holds []Hold) {
	for _, id := range ids {
		holds = append(holds, Hold{EnforcedAt: at(0), ActiveHold: resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Key: id, Mode: mode}}}})
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
	// policy is what the BMC does when mains power returns; the play answers what is
	// asked and written of it. rude is what it answers instead.
	policy protocol.RestorePolicy
	rude   protocol.Code
	ended  []resource.Release // holds whose time was over
	runs   int                // of the agent, after the first
}

func story(t *testing.T, change func(*Snapshot)) *play {
	t.Helper()
	s := given()
	if change != nil {
		change(&s)
	}
	return &play{t: t, s: s, policy: protocol.RestoreAlwaysOn}
}

// read steps with a read begun after d, and the given result of the last action.
func (y *play) read(p protocol.PowerState, d time.Duration, r *Result) Plan {
	y.t.Helper()
	y.s.Observation, y.s.Result = seen(p, d), r
	if p == protocol.PowerOn && !y.keeps {
		y.bmc = protocol.Override{} // firmware took it
	}
	y.s.Observation.Override = y.bmc
	y.step(d)
	happened := y.p.Happened
	for n := 0; y.guards(d); n++ {
		if n > 2 {
			y.t.Fatal("the restore policy is written again and again")
		}
		happened = append(happened, y.p.Happened...)
	}
	y.p.Happened = happened
	return y.p
}

func (y *play) step(d time.Duration) {
	y.s.Uptime = d - worldBefore
	if o := y.s.Observation; o != nil {
		y.s.Read = ReadSpan{o.StartedAt.Sub(at(worldBefore)), o.ReadAt.Sub(at(worldBefore))}
	}
	y.p = Step(at(d), y.s)
	y.s.Record, y.s.Watch = y.p.Record, y.p.Watch
	for _, e := range y.p.Expire {
		y.ended = append(y.ended, e)
		y.s.Holds = slices.DeleteFunc(slices.Clone(y.s.Holds), func(h Hold) bool { return h.ID == e.HoldID })
	}
	y.s.Observation, y.s.Result, y.s.Events = nil, nil, nil
}

// worldBefore is before any story begins: its agent started then.
const worldBefore = -24 * time.Hour

// guards answers what the plan wants of the restore policy, and steps again.
func (y *play) guards(d time.Duration) bool {
	k := y.p.Action.Kind
	switch k {
	case ActReadPolicy, ActGuard, ActUnguard:
	default:
		return false
	}
	r := Result{Action: k, At: at(d), Policy: y.policy, Code: y.rude}
	if k != ActReadPolicy && y.rude == "" {
		y.policy = y.p.Action.Policy
	}
	y.s.Result = &r
	y.step(d)
	return true
}

// restart is a crash of the agent: what was not on disk is gone.
func (y *play) restart() {
	y.s.Watch = Watch{}
	y.runs++
	y.s.Run = fmt.Sprintf("run-%d", y.runs)
	y.s.Record, _ = Recover(y.s.Record)
	if _, changed := Recover(y.s.Record); changed {
		y.t.Errorf("a record that was recovered changes again: %+v", y.s.Record)
	}
}

func (y *play) want(act ActionKind) {
	y.t.Helper()
	if y.p.Action.Kind != act {
		y.t.Fatalf("action %s, want %s; record %+v, attempt %+v", y.p.Action.Kind, act, y.p.Record, y.p.Record.Attempt)
	}
}

func (y *play) receipt(id string, want bool) {
	y.t.Helper()
	if _, got := y.p.Record.Holds.Receipts[id]; got != want {
		y.t.Fatalf("receipt of %s: %t, want %t", id, got, want)
	}
}

func (y *play) outcome(id string, outcome resource.Outcome, reason string) {
	y.t.Helper()
	for _, r := range y.p.Record.Requests {
		if r.ID == id && (r.Outcome != outcome || r.Reason != reason) {
			y.t.Fatalf("request %s: %s, %q; want %s, %q", id, r.Outcome, r.Reason, outcome, reason)
		} else if r.ID == id {
			return
		}
	}
	y.t.Fatalf("no request %s in %+v", id, y.p.Record.Requests)
}

func (y *play) happened(code resource.EventCode) {
	y.t.Helper()
	if !slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code == code }) {
		y.t.Fatalf("no event %s in %v", code, y.p.Happened)
	}
}

func (y *play) condition(code resource.ConditionCode) {
	y.t.Helper()
	if !slices.ContainsFunc(y.p.Record.Conditions, func(c resource.ConditionState) bool { return c.Code == code }) {
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
