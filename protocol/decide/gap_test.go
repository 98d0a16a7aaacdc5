package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestVoidTable(t *testing.T) {
	doctable.Of(t, "voiding.go", "voidRule").Hold(t, [][]string{{"this", "another"}, {"within", "beyond"}}, func(in []string) []string {
		return doctable.Words(voidRule(in[0] == "this", in[1] == "within"))
	})
}

func TestGapBound(t *testing.T) {
	for _, row := range []struct {
		s    Settings
		took time.Duration
		want time.Duration
	}{
		{Settings{PollInterval: 15 * sec}, 0, 45 * sec},
		{Settings{PollInterval: 17 * sec, Poll: 15 * sec}, 0, 45 * sec}, // as spread at random
		{Settings{PollInterval: 15 * sec}, sec, 48 * sec},
		{Settings{PollInterval: 500 * time.Millisecond}, 10 * time.Millisecond, 3 * sec},
		{Settings{PollInterval: sec}, 5 * sec, 18 * sec}, // a slow BMC
		{Settings{PollInterval: sec}, time.Hour, 48 * sec},
		{Settings{PollInterval: sec}, -sec, 3 * sec},
	} {
		if got := gapBound(row.s, row.took); got != row.want {
			t.Errorf("%+v, %s: %s, want %s", row.s, row.took, got, row.want)
		}
		// What is polled as ever, with one read that fails, stays within it.
		poll := row.s.Poll
		if poll == 0 {
			poll = row.s.PollInterval
		}
		took := min(max(row.took, 0), longestRead)
		if worst := took + 2*(poll*6/5+took); worst > row.want {
			t.Errorf("%+v, %s: two polls are %s", row.s, row.took, worst)
		}
	}
}

// TestContinuity: a receipt is of one run and one watch without a hole.
func TestContinuity(t *testing.T) {
	const off, on, unreachable, unknown = protocol.PowerOff, protocol.PowerOn, protocol.PowerUnreachable, protocol.PowerUnknown
	bound := gapBound((&world{}).settings(), 0)
	fenced := func(t *testing.T) *play {
		t.Helper()
		y := story(t, func(s *Snapshot) {
			s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil
			s.Holds, s.Run = held(resource.StopHard, "h"), "run-0"
		})
		for d := sec; d <= 6*sec; d += 2500 * time.Millisecond {
			y.read(off, d, nil)
		}
		y.receipt("h", true)
		return y
	}
	receipt := func(y *play) resource.Receipt { return y.p.Record.Holds.Receipts["h"] }
	again := func(y *play, from time.Duration) {
		y.t.Helper()
		y.receipt("h", false)
		y.read(off, from+5*sec, nil)
		y.receipt("h", true)
		if r := receipt(y); r.StoppedSince.Before(at(from)) || r.Run != y.s.Run {
			y.t.Errorf("receipt %+v, anew from %s", r, from)
		}
	}
	t.Run("it says what it is made of", func(t *testing.T) {
		y := fenced(t)
		want := resource.Receipt{
			HoldID: "h", Server: "server-1", Key: "h", EnforcedAt: at(0), StoppedSince: at(sec), FirstRead: at(sec), ConfirmedAt: at(6 * sec), Reads: 3, Settle: 5 * sec,
			Run: "run-0", LongestGap: 2500 * time.Millisecond, GapBound: bound, RestorePolicy: protocol.RestoreAlwaysOff,
		}
		y.read(off, 7*sec, nil)
		if got := receipt(y); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	t.Run("polls go on, and nothing is written", func(t *testing.T) {
		y := fenced(t)
		y.read(off, 20*sec, nil)
		for d := 40 * sec; d < 10*time.Minute; d += 18 * sec {
			if y.read(off, d, nil); y.p.Persist || len(y.p.Happened) > 0 {
				t.Fatalf("at %s: %+v", d, y.p)
			}
		}
		y.receipt("h", true)
	})
	for _, p := range []protocol.PowerState{unreachable, unknown, ""} {
		for _, row := range []struct {
			gap  time.Duration
			void bool
		}{{bound - 1, false}, {bound, false}, {bound + 1, true}} {
			t.Run("a gap of "+row.gap.String()+" with reads of "+string(p), func(t *testing.T) {
				y := fenced(t)
				first := receipt(y)
				if p != "" {
					y.read(p, 20*sec, nil)
					y.receipt("h", true)
				}
				y.read(off, 6*sec+row.gap, nil)
				if !row.void {
					if receipt(y) != first {
						t.Errorf("%+v became %+v", first, receipt(y))
					}
					return
				}
				y.happened(resource.EventReceiptVoid)
				y.lacks(resource.CondHoldViolated)
				again(y, 6*sec+row.gap)
			})
		}
	}
	t.Run("it ends while the BMC is silent", func(t *testing.T) {
		y := fenced(t)
		y.read(unreachable, 6*sec+bound, nil)
		y.receipt("h", true)
		y.read(unreachable, 7*sec+bound, nil)
		y.receipt("h", false)
		y.happened(resource.EventReceiptVoid)
		y.read(off, time.Hour, nil)
		again(y, time.Hour)
	})
	t.Run("a read that took long is a gap", func(t *testing.T) {
		y := fenced(t)
		y.s.Observation = &protocol.Observation{Server: "server-1", Power: off, StartedAt: at(20 * sec), ReadAt: at(7*sec + bound)}
		y.step(7*sec + bound)
		again(y, 7*sec+bound)
	})
	t.Run("the agent stood still after its read", func(t *testing.T) {
		y := fenced(t)
		y.s.Observation = seen(off, 20*sec)
		y.step(21*sec + bound)
		y.receipt("h", false)
		y.read(off, 22*sec+bound, nil)
		again(y, 22*sec+bound)
	})
	t.Run("what is being proved begins anew", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.read(off, sec, nil)
		y.read(off, 2*sec+bound, nil)
		again(y, 2*sec+bound)
	})
	t.Run("a restart", func(t *testing.T) {
		for _, first := range []protocol.PowerState{off, unreachable} {
			y := fenced(t)
			y.restart()
			y.read(first, 8*sec, nil)
			y.receipt("h", false)
			y.happened(resource.EventReceiptVoid)
			y.read(off, 9*sec, nil)
			y.read(off, 14*sec, nil)
			if r := receipt(y); r.Run != "run-1" || r.StoppedSince.Before(at(8*sec)) {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("receipt, On seen, the write fails, crash, Off", func(t *testing.T) {
		y := fenced(t)
		disk := y.s.Record
		y.read(on, 20*sec, nil)
		y.s.Record = disk // it was not written
		y.restart()
		y.read(off, 24*sec, nil)
		again(y, 24*sec)
	})
	t.Run("before a step a run shows none of another", func(t *testing.T) {
		y := fenced(t)
		if r := InRun(y.s.Record, "run-0"); len(r.Holds.Receipts) != 1 {
			t.Errorf("%+v", r.Holds)
		}
		if r := InRun(y.s.Record, "run-1"); len(r.Holds.Receipts) != 0 || len(y.s.Record.Holds.Receipts) != 1 {
			t.Errorf("%+v", r.Holds)
		}
	})
	t.Run("a word is no proof, and stays", func(t *testing.T) {
		y := story(t, func(s *Snapshot) {
			s.Holds = held(resource.StopHard, "h")
			s.Holds[0].ConfirmedDown = &resource.Confirmation{By: "ann", Reason: "no cord"}
		})
		y.read(unreachable, sec, nil)
		y.read(unreachable, 7*sec, nil)
		y.restart()
		y.read(unreachable, time.Hour, nil)
		if y.p.Record.Holds.Manual["h"].Manual == nil {
			t.Errorf("%+v", y.p.Record.Holds)
		}
	})
	t.Run("the clock is stepped", func(t *testing.T) {
		for _, by := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
			y := fenced(t)
			first := receipt(y)
			step := func(d time.Duration) {
				y.s.Uptime, y.s.Read = d-worldBefore, ReadSpan{d - worldBefore, d - worldBefore}
				y.s.Observation = seen(off, d+by)
				y.p = Step(at(d+by), y.s)
				y.s.Record, y.s.Watch, y.s.Observation = y.p.Record, y.p.Watch, nil
			}
			step(20 * sec)
			if receipt(y) != first {
				t.Errorf("%s: %+v became %+v", by, first, receipt(y))
			}
			step(21*sec + bound)
			y.receipt("h", false)
		}
	})
}
