package decide

import (
	"fmt"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestOnBoundTable(t *testing.T) {
	longest := 24 * time.Hour
	doctable.Of(t, "quiet.go", "onBound").Hold(t, [][]string{{"0s", "1s", "5s", "10s", "45s", "1m50s", "5m0s", "more"}}, func(in []string) []string {
		seen := longest
		if in[0] != "more" {
			d, err := time.ParseDuration(in[0])
			if err != nil {
				t.Fatal(err)
			}
			seen = d
		}
		return []string{onBound(seen).String()}
	})
}

// ordering is a server whose disk boot has just been ordered: On is sent at 2 s. BMCs were seen
// to take so long before.
func ordering(t *testing.T, seen time.Duration) *play {
	t.Helper()
	y := story(t, func(s *Snapshot) {
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
		s.Record.Shown.OnTook = seen
	})
	y.read(protocol.PowerOff, sec, nil)
	y.read(protocol.PowerOff, 2*sec, y.answered(""))
	y.want(ActOn)
	return y
}

// TestLateOnAndReceipt: after an On whose effect nobody saw a receipt waits for the longest that
// the BMC may take; after one that was seen, or refused, it waits for nothing.
func TestLateOnAndReceipt(t *testing.T) {
	const off, on = protocol.PowerOff, protocol.PowerOn
	for _, seen := range []time.Duration{0, 5 * sec, 45 * sec, 110 * sec} {
		for _, comes := range []time.Duration{sec, 45 * sec, 119 * sec} {
			for _, code := range []protocol.Code{"", protocol.CodeTimeout, protocol.CodeUnavailable} {
				t.Run(fmt.Sprintf("seen %s, comes after %s, answered %q", seen, comes, code), func(t *testing.T) {
					y := ordering(t, seen)
					y.s.Holds = held(resource.StopHard, "h")
					y.s.Holds[0].EnforcedAt = at(3 * sec)
					r, ran := y.answered(code), false
					for d := 3 * sec; d < 2*sec+comes; d += 5 * sec {
						y.read(off, d, r)
						r = nil
						if _, ran = y.p.Record.Holds.Receipts["h"]; ran {
							break
						}
					}
					if want := comes > onBound(seen)+10*sec; ran != want {
						t.Fatalf("proved before the On came: %t, want %t", ran, want)
					}
					y.read(on, 2*sec+comes, r)
					y.want(ActForceOff)
					if _, violated := y.p.Record.Holds.Violated["h"]; violated != ran {
						t.Errorf("violated %t, proved before %t", violated, ran)
					}
					if took := y.p.Record.Shown.OnTook; took < comes || took > comes+sec && took != seen {
						t.Errorf("seen to take %s, and it took %s", took, comes)
					}
					for d := 3*sec + comes; d <= 9*sec+comes; d += 3 * sec {
						y.read(off, d, y.answered(""))
					}
					y.receipt("h", true)
					if rc := y.p.Record.Holds.Receipts["h"]; rc.OnWaited != 0 {
						t.Errorf("its effect was seen: %+v", rc)
					}
				})
			}
		}
	}
	t.Run("what was waited stands in the receipt", func(t *testing.T) {
		y := ordering(t, 20*sec)
		y.s.Holds = held(resource.StopHard, "h")
		y.s.Holds[0].EnforcedAt = at(3 * sec)
		y.read(off, 3*sec, y.answered(""))
		for d := 4 * sec; d <= 2*sec+onBound(20*sec)+5*sec; d += sec {
			y.read(off, d, nil)
			y.receipt("h", false)
		}
		y.read(off, 3*sec+onBound(20*sec)+5*sec, nil)
		y.receipt("h", true)
		if rc := y.p.Record.Holds.Receipts["h"]; rc.OnWaited != onUnseen || rc.StoppedSince.Before(at(3*sec+onUnseen)) || rc.FirstRead.Before(at(3*sec+onUnseen)) {
			t.Errorf("%+v", rc)
		}
	})
	t.Run("the effect was seen: nothing to wait for", func(t *testing.T) {
		y := ordering(t, 0)
		y.read(off, 3*sec, y.answered(""))
		y.read(on, 7*sec, nil)
		if took := y.p.Record.Shown.OnTook; took != 5*sec {
			t.Errorf("seen to take %s", took)
		}
		y.s.Holds = held(resource.StopHard, "h")
		y.s.Holds[0].EnforcedAt = at(8 * sec)
		y.read(on, 9*sec, nil)
		y.want(ActForceOff)
		y.read(off, 10*sec, y.answered(""))
		y.read(off, 15*sec, nil)
		y.receipt("h", true)
	})
	t.Run("it was refused: nothing to wait for", func(t *testing.T) {
		y := ordering(t, 0)
		y.s.Holds = held(resource.StopHard, "h")
		y.s.Holds[0].EnforcedAt = at(2500 * time.Millisecond)
		y.read(off, 3*sec, y.answered(protocol.CodeConflict))
		y.read(off, 8*sec, nil)
		y.receipt("h", true)
	})
	t.Run("it only grows", func(t *testing.T) {
		y := ordering(t, 45*sec)
		y.read(off, 3*sec, y.answered(""))
		y.read(on, 7*sec, nil)
		if took := y.p.Record.Shown.OnTook; took != 45*sec {
			t.Errorf("%s", took)
		}
	})
	t.Run("of several the first counts, and it is never believed beyond its time", func(t *testing.T) {
		y := ordering(t, 0)
		y.read(off, 3*sec, y.answered(""))
		for d := 12 * sec; d < 60*sec; d += 10 * sec {
			y.read(off, d, nil)
			y.want(ActOn)
			y.read(off, d+sec, y.answered(""))
		}
		y.read(on, 62*sec, nil)
		if took := y.p.Record.Shown.OnTook; took != 60*sec {
			t.Errorf("%s", took)
		}
	})
	t.Run("by an earlier run of the agent", func(t *testing.T) {
		for _, by := range []time.Duration{0, 2 * time.Hour, -2 * time.Hour} { // its host's clock is set meanwhile
			y := ordering(t, 0)
			y.s.Holds = held(resource.StopHard, "h")
			y.s.Holds[0].EnforcedAt = at(3*sec + min(by, 0))
			y.read(off, 3*sec, y.answered(""))
			y.restart()
			read := func(d time.Duration) {
				y.s.Uptime, y.s.Read = d, ReadSpan{d, d} // of this run
				y.s.Observation = seen(off, 20*sec+d+by)
				y.p = Step(at(20*sec+d+by), y.s)
				y.s.Record, y.s.Watch, y.s.Observation = y.p.Record, y.p.Watch, nil
			}
			for d := sec; d < sec+onUnseen; d += 9 * sec {
				read(d)
				y.receipt("h", false)
			}
			read(sec + onUnseen)
			read(6*sec + onUnseen)
			y.receipt("h", true)
			y.restart() // it was waited out, and is not again
			read(sec)
			read(6 * sec)
			y.receipt("h", true)
		}
	})
	t.Run("a clock that is set hides nothing", func(t *testing.T) {
		y := ordering(t, 0)
		y.s.Holds = held(resource.StopHard, "h")
		y.s.Holds[0].EnforcedAt = at(3 * sec)
		y.read(off, 3*sec, y.answered(""))
		for d := 4 * sec; d < 100*sec; d += 5 * sec {
			y.s.Uptime, y.s.Read = d-worldBefore, ReadSpan{d - worldBefore, d - worldBefore}
			y.s.Observation = seen(off, d+2*time.Hour)
			y.p = Step(at(d+2*time.Hour), y.s)
			y.s.Record, y.s.Watch, y.s.Observation = y.p.Record, y.p.Watch, nil
			y.receipt("h", false)
		}
	})
}
