package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
)

var (
	ownClocks  = []string{string(ownOK), string(ownEarly), string(ownOld), string(ownBroken)}
	hubsClocks = []string{string(hubNone), string(hubSame), string(hubLater), string(hubEarlier)}
)

func TestClocksTables(t *testing.T) {
	doctable.Of(t, "clocks.go", "clockNow").HoldOne(t, [][]string{ownClocks, hubsClocks, {"yes", "no"}}, func(in []string) string {
		return string(clockNow(ownClock(in[0]), hubsClock(in[1]), in[2] == "yes"))
	})
	doctable.Of(t, "clocks.go", "clockFloor").HoldOne(t, [][]string{ownClocks, hubsClocks, {"yes", "no"}}, func(in []string) string {
		return string(clockFloor(ownClock(in[0]), hubsClock(in[1]), in[2] == "yes"))
	})
	doctable.Of(t, "clocks.go", "clockOff").HoldOne(t, [][]string{ownClocks, hubsClocks, {string(paceNone), string(paceOwn), string(paceHub)}}, func(in []string) string {
		return string(clockOff(ownClock(in[0]), hubsClock(in[1]), pace(in[2])))
	})
	spans := []string{string(SpanEarly), string(SpanGood), string(SpanEnded)}
	doctable.Of(t, "certificate.go", "NextCertificate").HoldOne(t, [][]string{
		{string(ClockOwn), string(ClockFloor), string(ClockHub)}, spans, spans,
	}, func(in []string) string {
		return string(NextCertificate(ClockSource(in[0]), CertificateSpan(in[1]), CertificateSpan(in[2])))
	})
}

// TestClocks: what an agent believes while a clock is wrong. The right time is day 0; the
// floor is a minute behind, where there is one.
func TestClocks(t *testing.T) {
	const day = 24 * time.Hour
	right := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return right.Add(d) }
	rtc := time.Unix(0, 0)
	built, begin, floor := at(-60*day), at(-30*day), at(-time.Minute)
	base := ClockSnapshot{Own: right, Built: built, Begin: begin, Floor: floor, Expected: right, Hub: right}
	with := func(change func(*ClockSnapshot)) ClockSnapshot {
		s := base
		change(&s)
		return s
	}
	for _, c := range []struct {
		name         string
		s            ClockSnapshot
		now, floor   time.Time
		off          ClockOff
		by           time.Duration
		other        time.Time
		lowered, agr bool
	}{
		{"all is well, a first word", base, right, floor, ClockOffNone, 0, floor, false, false},
		{"all is well", with(func(s *ClockSnapshot) { s.Steady = true }), right, right, ClockOffNone, 0, floor, false, true},
		{"the hub is away", with(func(s *ClockSnapshot) { s.Hub = time.Time{} }), right, floor, ClockOffNone, 0, floor, false, false},

		{"hub ahead for 45 s", with(func(s *ClockSnapshot) { s.Hub = at(400 * day) }), right, floor, ClockOffHubAhead, -400 * day, floor, false, false},
		{"hub ahead for hours", with(func(s *ClockSnapshot) { s.Hub, s.Steady = at(400*day), true }), right, right, ClockOffHubAhead, -400 * day, floor, false, false},
		{
			"hub ahead since before the agent started", with(func(s *ClockSnapshot) { s.Hub, s.Steady, s.Expected = at(400*day), true, time.Time{} }),
			right, right, ClockOffUnsure, -400 * day, floor, false, false,
		},
		{"hub behind for hours", with(func(s *ClockSnapshot) { s.Hub, s.Steady = at(-400*day), true }), right, floor, ClockOffHubBehind, 400 * day, floor, false, false},

		{
			"joined while the hub was ahead", with(func(s *ClockSnapshot) {
				s.Begin, s.Floor, s.Expected, s.Hub = at(400*day), time.Time{}, time.Time{}, time.Time{}
			}),
			at(400 * day),
			time.Time{},
			ClockOffUnsure, -400 * day, right, false, false,
		},
		{
			"and the hub is right again", with(func(s *ClockSnapshot) { s.Begin, s.Floor, s.Expected = at(400*day), time.Time{}, time.Time{} }),
			at(400 * day),
			time.Time{},
			ClockOffNone, 0, right, false, false,
		},
		{
			"and stays so", with(func(s *ClockSnapshot) {
				s.Begin, s.Floor, s.Expected, s.Steady = at(400*day), time.Time{}, time.Time{}, true
			}),
			right, right, ClockOffNone, 0, at(400 * day), false, true,
		},

		{"agent set ahead", with(func(s *ClockSnapshot) { s.Own, s.Steady = at(400*day), true }), at(400 * day), right, ClockOffAgentAhead, 400 * day, floor, false, false},
		{
			"agent starts ahead", with(func(s *ClockSnapshot) { s.Own, s.Expected, s.Hub = at(400*day), time.Time{}, time.Time{} }),
			at(400 * day), floor, ClockOffNone, 0, floor, false, false,
		},
		{
			"agent starts ahead, and hears the hub", with(func(s *ClockSnapshot) { s.Own, s.Expected = at(400*day), time.Time{} }),
			at(400 * day), floor, ClockOffUnsure, 400 * day, floor, false, false,
		},

		{
			"1970 without the hub", with(func(s *ClockSnapshot) { s.Own, s.Expected, s.Hub = rtc, time.Time{}, time.Time{} }),
			floor, floor, ClockOffAgentBehind, rtc.Sub(floor),
			time.Time{},
			false, false,
		},
		{
			"1970, and a certificate of a hub that was ahead", with(func(s *ClockSnapshot) { s.Own, s.Expected, s.Hub, s.Begin = rtc, time.Time{}, time.Time{}, at(400*day) }),
			at(400 * day), floor, ClockOffAgentBehind, rtc.Sub(at(400 * day)), floor, false, false,
		},
		{"1970 and a first word of the hub", with(func(s *ClockSnapshot) { s.Own = rtc }), floor, floor, ClockOffAgentBehind, rtc.Sub(right), time.Time{}, false, false},
		{"1970 and several", with(func(s *ClockSnapshot) { s.Own, s.Steady = rtc, true }), right, floor, ClockOffAgentBehind, rtc.Sub(right), floor, false, false},
		{"1970, built at an unknown time, no floor", ClockSnapshot{Own: rtc, Begin: begin}, begin, time.Time{}, ClockOffUnsure, rtc.Sub(begin), rtc, false, false},
		{
			"1970, hub ahead for hours", with(func(s *ClockSnapshot) { s.Own, s.Steady, s.Hub = rtc, true, at(400*day) }),
			at(400 * day), floor, ClockOffAgentBehind, rtc.Sub(at(400 * day)), floor, false, false,
		},
		{
			"both before the program was built", with(func(s *ClockSnapshot) { s.Own, s.Hub, s.Steady = rtc, rtc, true }),
			floor, floor, ClockOffAgentBehind, rtc.Sub(floor),
			time.Time{},
			false, false,
		},

		{"set back by a day", with(func(s *ClockSnapshot) { s.Own, s.Steady = at(-day), true }), right, floor, ClockOffAgentBehind, -day, floor, false, false},
		{"set back by a day, the hub away", with(func(s *ClockSnapshot) { s.Own, s.Hub = at(-day), time.Time{} }), floor, floor, ClockOffAgentBehind, -day + time.Minute, at(-day), false, false},
		{
			"both were ahead, and were set right", with(func(s *ClockSnapshot) { s.Floor, s.Expected = at(400*day), at(400*day) }),
			at(400 * day), at(400 * day), ClockOffNone, 0, right, false, false,
		},
		{"for minutes", with(func(s *ClockSnapshot) { s.Floor, s.Expected, s.Steady = at(400*day), at(400*day), true }), right, right, ClockOffNone, 0, at(400 * day), true, true},
		{"a minute behind is no news", with(func(s *ClockSnapshot) { s.Own = at(-2 * time.Minute) }), at(-2 * time.Minute), floor, ClockOffNone, 0, floor, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Clocks(c.s)
			if !p.Now.Equal(c.now) || !p.Floor.Equal(c.floor) || p.Off != c.off || p.By != c.by || !p.Other.Equal(c.other) || p.Lowered != c.lowered || p.Agreed != c.agr {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestFloorNeedsTwo: whatever one source says, it does not raise the floor above the other
// one; and nothing lowers it but both.
func TestFloorNeedsTwo(t *testing.T) {
	base := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	times := []time.Time{time.Unix(0, 0)}
	for _, d := range []time.Duration{-400, -1, 0, 1, 400} {
		times = append(times, base.Add(d*24*time.Hour))
	}
	for _, own := range times {
		for _, hub := range times {
			for _, steady := range []bool{false, true} {
				p := Clocks(ClockSnapshot{Own: own, Built: base.Add(-24 * time.Hour), Begin: base, Floor: base, Hub: hub, Steady: steady})
				if p.Floor.After(base) && (p.Floor.After(own) || p.Floor.After(hub) || !steady) {
					t.Errorf("own %s, hub %s, steady %t: the floor rises to %s", own, hub, steady, p.Floor)
				}
				if p.Floor.Before(base) && (!steady || !hub.Before(base) || !own.Before(base)) {
					t.Errorf("own %s, hub %s, steady %t: the floor falls to %s", own, hub, steady, p.Floor)
				}
				if p.Now.Before(base) && !p.Lowered && p.Now.Add(ClockSlack).Before(base) {
					t.Errorf("own %s, hub %s, steady %t: believes %s", own, hub, steady, p.Now)
				}
			}
		}
	}
}
