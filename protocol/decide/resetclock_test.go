package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestResetMovedTable(t *testing.T) {
	all := []moved{movedFirst, movedSame, movedEarlier, movedLater}
	for _, shown := range all {
		doctable.Of(t, "bmcclock.go", "resetMoved").Hold(t, [][]string{{"read", "unread"}, doctable.Words(movedSame, movedEarlier, movedLater), doctable.YesNo()}, func(in []string) []string {
			got := resetMoved(in[0] == "read", moved(in[1]), shown, in[2] == "yes")
			if in[0] == "unread" && in[2] == "no" {
				if got != shown {
					t.Errorf("%v: %s, shown is %s", in, got, shown)
				}
				return []string{"as shown"}
			}
			return doctable.Words(got)
		})
	}
}

// bmcClock is a BMC whose clock is set, and whose LastResetTime is of that clock.
type bmcClock struct {
	began    time.Duration // the boot, in true time
	ahead    time.Duration // of its clock
	was      time.Duration // when the boot began
	computed bool          // from the uptime at each read
	silent   bool          // its clock cannot be read
	zone     time.Duration // by which the LastResetTime is wrong all the time
}

func (b *bmcClock) reset(d time.Duration) { b.began, b.was = d, b.ahead }

func (b *bmcClock) shows(o *protocol.Observation, d time.Duration) {
	ahead := b.was
	if b.computed {
		ahead = b.ahead
	}
	o.LastResetTime = at(b.began + ahead + b.zone).Format(time.RFC3339)
	if !b.silent {
		o.ManagerTime = at(d + b.ahead).Format(time.RFC3339)
	}
}

// TestBMCClock: a BMC's clock that is set is no reset, and hides none.
func TestBMCClock(t *testing.T) {
	const off, on = protocol.PowerOff, protocol.PowerOn
	hold := func(s *Snapshot) {
		s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil
		s.Holds = held(resource.StopHard, "h")
	}
	look := func(y *play, b *bmcClock, p protocol.PowerState, d time.Duration) {
		y.s.Observation = seen(p, d)
		b.shows(y.s.Observation, d)
		y.step(d)
	}
	const year = 365 * 24 * time.Hour
	for _, computed := range []bool{true, false} {
		for _, silent := range []bool{false, true} {
			for _, zone := range []time.Duration{0, 2 * time.Hour} {
				for _, by := range []time.Duration{0, 15 * sec, -15 * sec, 3 * time.Minute, -3 * time.Minute, 2 * time.Hour, -2 * time.Hour, 6 * year, -6 * year} {
					for _, reset := range []bool{true, false} {
						for _, restart := range []bool{true, false} {
							name := fmt.Sprintf("computed %t, clock unread %t, zone %s, set by %s, reset %t, restart %t", computed, silent, zone, by, reset, restart)
							t.Run(name, func(t *testing.T) {
								b := &bmcClock{began: -3 * time.Hour, computed: computed, silent: silent, zone: zone}
								y := story(t, hold)
								for d := sec; d < 4*time.Minute; d += 15 * sec {
									look(y, b, off, d)
								}
								y.receipt("h", true)
								if restart {
									y.restart()
								}
								b.ahead += by
								if reset {
									b.reset(4*time.Minute + 3*sec)
								}
								look(y, b, off, 4*time.Minute+10*sec)
								_, violated := y.p.Record.Holds.Violated["h"]
								told := slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code == resource.EventUnexpected })
								if violated != told {
									t.Fatalf("violated %t, unexpected %t", violated, told)
								}
								moved := computed && by != 0 || reset
								switch {
								case !silent && told != reset:
									t.Errorf("told of a reset: %t", told)
								case silent && !moved && told:
									t.Error("told of a reset, and nothing moved")
								case silent && !reset && !restart && by < 4*time.Minute && told: // a step that looks like one
									t.Error("told of a reset")
								case silent && reset && by == 0 && !told:
									t.Error("not told of a reset")
								}
								if !reset && !restart && !told {
									y.receipt("h", true)
								}
							})
						}
					}
				}
			}
		}
	}
	t.Run("two clocks that drift apart for a month, and NTP", func(t *testing.T) {
		b := &bmcClock{began: -3 * time.Hour, computed: true}
		y := story(t, func(s *Snapshot) { s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil })
		d := time.Duration(0)
		for ; d < 30*24*time.Hour; d += 2 * time.Hour {
			b.ahead = -d / 20000
			look(y, b, on, d)
		}
		b.ahead = 0
		look(y, b, on, d)
		if y.p.Record.Unexpected != nil {
			t.Error("told of a reset")
		}
		b.reset(d + sec)
		look(y, b, on, d+15*sec)
		if y.p.Record.Unexpected == nil {
			t.Error("not told of a reset")
		}
	})
	t.Run("what it showed is no news", func(t *testing.T) {
		b := &bmcClock{began: -time.Hour}
		y := story(t, hold)
		look(y, b, off, sec)
		if y.p.Watch.Last.ManagerTime != "" {
			t.Errorf("%+v", y.p.Watch.Last)
		}
	})
}
