package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestUnrecordedTable(t *testing.T) {
	doctable.Of(t, "unrecorded.go", "unrecordedRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.Words(holdsNone, holdsPlain, holdsForced), doctable.YesNo(), doctable.YesNo(), doctable.Words(spellTimes...),
		doctable.Words(ClearFree, ClearCount, ClearSpend, ClearWait),
	}, func(in []string) []string {
		return doctable.Words(unrecordedRule(in[0] == "yes", holding(in[1]), in[2] == "yes", in[3] == "yes", spellTime(in[4]), Clearing(in[5])))
	})
}

// TestStopUnrecorded: what the facts of the table are read from.
func TestStopUnrecorded(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hold := func(m resource.StopMode) []Hold {
		return []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: m}}}, EnforcedAt: now.Add(-time.Hour)}}
	}
	proved := Record{Holds: Holds{Receipts: map[string]resource.Receipt{"h": {}}}}
	bulk := Bulk{Key: true, Bound: 2, Window: time.Hour}
	full, approved := bulk, bulk
	full.Others, approved.Others, approved.Approval = 2, 2, "a"
	for _, row := range []struct {
		name  string
		power protocol.PowerState
		holds []Hold
		rec   Record
		bulk  Bulk
		work  bool
		was   Overlay
		want  ActionKind
		at    time.Duration // of RecheckAt after now; 0 is none
		runs  bool
	}{
		{name: "a hard hold", power: protocol.PowerOn, holds: hold(resource.StopHard), want: ActForceOff, runs: true},
		{name: "no hold", power: protocol.PowerOn, want: ActNone},
		{name: "off", power: protocol.PowerOff, holds: hold(resource.StopHard), want: ActNone},
		{name: "unreachable", power: protocol.PowerUnreachable, holds: hold(resource.StopHard), want: ActNone},
		{name: "PoweringOff runs still", power: protocol.PowerPoweringOff, holds: hold(resource.StopHard), want: ActForceOff, runs: true},
		{name: "a soft hold has its time from when it is seen", power: protocol.PowerOn, holds: hold(resource.StopSoft), want: ActNone, at: time.Minute, runs: true},
		{name: "and from its stop on disk", power: protocol.PowerOn, holds: hold(resource.StopSoft), rec: Record{Stop: &Stop{Mode: resource.StopSoft, Since: now.Add(-40 * time.Second)}}, want: ActNone, at: 20 * time.Second, runs: true},
		{name: "and is over then", power: protocol.PowerOn, holds: hold(resource.StopSoft), rec: Record{Stop: &Stop{Mode: resource.StopSoft, Since: now.Add(-time.Minute)}}, want: ActForceOff, runs: true},
		{name: "a soft hold whose server was proved off", power: protocol.PowerOn, holds: hold(resource.StopSoft), rec: proved, want: ActForceOff, runs: true},
		{name: "a soft stop that had become hard", power: protocol.PowerOn, holds: hold(resource.StopSoft), rec: Record{Stop: &Stop{Mode: resource.StopHard, Since: now}}, want: ActForceOff, runs: true},
		{name: "a pause after the one on disk", power: protocol.PowerOn, holds: hold(resource.StopHard), rec: Record{Stop: &Stop{Mode: resource.StopHard, Forced: now.Add(-4 * time.Second)}}, want: ActNone, at: 6 * time.Second, runs: true},
		{name: "a longer one after the third", power: protocol.PowerOn, holds: hold(resource.StopHard), was: Overlay{Since: now, Forced: now.Add(-30 * time.Second), Tries: 3}, want: ActNone, at: 10 * time.Second, runs: true},
		{name: "never longer than the longest", power: protocol.PowerOn, holds: hold(resource.StopHard), was: Overlay{Since: now, Forced: now.Add(-2 * time.Minute), Tries: 90}, want: ActForceOff, runs: true},
		{name: "one that lies ahead of the clock does not count", power: protocol.PowerOn, holds: hold(resource.StopHard), was: Overlay{Since: now, Forced: now.Add(time.Hour), Tries: 1}, want: ActForceOff, runs: true},
		{name: "firmware work", power: protocol.PowerOn, holds: hold(resource.StopHard), work: true, want: ActNone, runs: true},
		{name: "room of the bound", power: protocol.PowerOn, holds: hold(resource.StopHard), bulk: bulk, want: ActForceOff, runs: true},
		{name: "no room", power: protocol.PowerOn, holds: hold(resource.StopHard), bulk: full, want: ActNone, runs: true},
		{name: "an approval cannot be used up", power: protocol.PowerOn, holds: hold(resource.StopHard), bulk: approved, want: ActNone, runs: true},
		{name: "no room, and it was let through before", power: protocol.PowerOn, holds: hold(resource.StopHard), bulk: full, rec: Record{Stop: &Stop{Mode: resource.StopHard, Cleared: true}}, want: ActForceOff, runs: true},
		{name: "no room, and it came on under the hold", power: protocol.PowerOn, holds: hold(resource.StopHard), bulk: full, rec: proved, want: ActForceOff, runs: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Snapshot{
				Holds: row.holds, Record: row.rec, Bulk: row.bulk, Settings: Settings{SoftTimeout: time.Minute}, Observation: &protocol.Observation{Power: row.power},
			}
			if row.work {
				s.Firmware = &resource.FirmwareWork{NotAfter: now.Add(time.Hour)}
			}
			got := StopUnrecorded(now, true, s, row.was)
			at := time.Duration(0)
			if !got.RecheckAt.IsZero() {
				at = got.RecheckAt.Sub(now)
			}
			if got.Action != row.want || at != row.at || got.Runs != row.runs {
				t.Errorf("%s at %s, runs %t; want %s at %s, %t", got.Action, at, got.Runs, row.want, row.at, row.runs)
			}
			if sent := got.Action == ActForceOff; sent != (got.Overlay.Forced.Equal(now) && got.Overlay.Tries == row.was.Tries+1) {
				t.Errorf("spell %+v after %+v", got.Overlay, row.was)
			}
			if counts := got.Action == ActForceOff && row.name == "room of the bound"; got.Counts != counts {
				t.Errorf("counts %t", got.Counts)
			}
			for _, ended := range []bool{true, false} {
				s.Ended = ended
				if a := StopUnrecorded(now, ended, s, row.was); a.Action != ActNone {
					t.Errorf("ended %t, of this agent %t: %s", ended, ended, a.Action)
				}
			}
		})
	}
}

// TestUnrecordedStopIsNoted: with room, what happened is in the record: the proof is void,
// and the ForceOff that was sent is not sent again at once.
func TestUnrecordedStopIsNoted(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ran := protocol.Observation{Power: protocol.PowerOn, StartedAt: now.Add(-9 * time.Second), ReadAt: now.Add(-8 * time.Second)}
	p := Step(now, Snapshot{
		Server: "n1", Passive: true, Overlay: &Overlay{Ran: &ran, Forced: now.Add(-7 * time.Second), Tries: 1, Sent: 1}, Settings: Settings{SoftTimeout: time.Minute, PollInterval: time.Second},
		Holds:  []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}}},
		Record: Record{Shown: Shown{Power: protocol.PowerOff, Epoch: 3}, Holds: Holds{Receipts: map[string]resource.Receipt{"h": {}}}},
		Watch:  Watch{Last: protocol.Observation{Power: protocol.PowerOff, StartedAt: now.Add(-time.Minute), ReadAt: now.Add(-time.Minute)}},
		Bulk:   Bulk{Key: true, Bound: 1, Window: time.Hour},
	})
	st := p.Record.Stop
	if len(p.Record.Holds.Receipts) != 0 || p.Record.Shown.Epoch != 4 || st == nil || !st.Forced.Equal(now.Add(-7*time.Second)) || !st.Cleared || p.Action.Kind != ActNone || !p.Persist {
		t.Errorf("%+v, stop %+v, action %s", p.Record, st, p.Action.Kind)
	}
	codes := map[resource.EventCode]int{}
	for _, e := range p.Happened {
		codes[e.Code]++
	}
	if codes[resource.EventHoldViolated] != 1 || codes[resource.EventOrdered] != 1 {
		t.Errorf("events %+v", p.Happened)
	}
}
