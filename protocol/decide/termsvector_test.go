package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// lacks says that a condition is not so.
func (y *play) lacks(code resource.ConditionCode) {
	y.t.Helper()
	if slices.ContainsFunc(y.p.Record.Conditions, func(c resource.ConditionState) bool { return c.Code == code }) {
		y.t.Fatalf("condition %s in %v", code, y.p.Record.Conditions)
	}
}

// state compares what people are told of the first hold.
func (y *play) state(want resource.HoldState, part string) {
	y.t.Helper()
	got, why := HoldStands(y.s.Holds[0], y.p.Record, y.p.Watch, y.s.Firmware, y.s.Settings.SettleWindow)
	if got != want || !strings.Contains(why, part) || part == "" && why != "" {
		y.t.Fatalf("state %s, %q; want %s, %q", got, why, want, part)
	}
}

// until reads the same every 5 s.
func (y *play) until(p protocol.PowerState, from, to time.Duration) {
	y.t.Helper()
	for d := from; d <= to; d += 5 * sec {
		y.read(p, d, nil)
	}
}

// TestTimeToLive: it is counted at the agent while it runs, never ends early, and the
// hold's own terms decide.
func TestTimeToLive(t *testing.T) {
	const off = protocol.PowerOff
	lies := func(on resource.OnExpiry) *play {
		return story(t, func(s *Snapshot) {
			s.Holds = held(resource.StopHard, "h")
			s.Holds[0].TTL, s.Holds[0].OnExpiry, s.Holds[0].Owner = protocol.Duration(5*time.Minute), on, "o"
		})
	}
	t.Run("kept", func(t *testing.T) {
		for _, on := range []resource.OnExpiry{resource.ExpiryKeep, ""} {
			y := lies(on)
			y.until(off, 0, 300*sec-1)
			y.lacks(resource.CondHoldExpired)
			y.read(off, 300*sec, nil)
			y.happened(resource.EventHoldExpired)
			y.condition(resource.CondHoldExpired)
			y.receipt("h", true)
			at := y.p.Record.Holds.Terms["h"].ExpiredAt
			y.until(off, 305*sec, 600*sec)
			if len(y.p.Happened) != 0 || len(y.ended) != 0 || at.IsZero() || !y.p.Record.Holds.Terms["h"].ExpiredAt.Equal(at) {
				t.Errorf("again: %+v", y.p)
			}
			y.restart()
			y.read(off, 700*sec, nil)
			y.condition(resource.CondHoldExpired)
		}
	})
	t.Run("released", func(t *testing.T) {
		y := lies(resource.ExpiryRelease)
		y.until(off, 0, 295*sec)
		if y.p.RecheckAt.After(at(300 * sec)) {
			t.Errorf("looks again at %v", y.p.RecheckAt)
		}
		y.s.Record.Owners.Provisioned = provisionedBy("claim-1")
		y.read(off, 300*sec, nil)
		if len(y.ended) != 1 || y.ended[0].HoldID != "h" || y.ended[0].By != ByExpiry || y.ended[0].Reason == "" {
			t.Fatalf("%+v", y.ended)
		}
		y.happened(resource.EventHoldExpired)
		y.lacks(resource.CondHeld)
		if len(y.p.Record.Holds.Receipts)+len(y.p.Record.Holds.Terms) != 0 {
			t.Errorf("left: %+v", y.p.Record)
		}
	})
	t.Run("a restart loses up to a minute, and a clock that is set nothing", func(t *testing.T) {
		y := lies(resource.ExpiryRelease)
		y.until(off, 0, 200*sec)
		was := y.p.Record.Holds.Terms["h"].Elapsed
		if lost := 200*sec - was; lost < 0 || lost > time.Minute {
			t.Fatalf("recorded %v", was)
		}
		y.restart() // and the agent is away for an hour
		from := 3800 * sec
		for d := from; d < from+300*sec-was; d += 5 * sec {
			y.read(off, d, nil)
			if len(y.ended) != 0 {
				t.Fatalf("ended %v after the start", d-from)
			}
		}
		y.read(off, from+300*sec-was, nil)
		if len(y.ended) != 1 {
			t.Fatal("did not end")
		}
		y = lies(resource.ExpiryRelease)
		y.read(off, 0, nil)
		y.s.Uptime = 10*sec - worldBefore
		if p := Step(at(48*time.Hour), y.s); len(p.Expire) != 0 {
			t.Error("ended because the clock was set")
		}
	})
}

// TestMalformedHolds: what a hold says that this agent does not know never drops it.
func TestMalformedHolds(t *testing.T) {
	for name, h := range map[string]resource.ActiveHold{
		"mode":        {HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: "medium"}}},
		"onExpiry":    {HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopSoft, TTL: protocol.Duration(time.Minute), OnExpiry: "later"}}},
		"ttl":         {HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopSoft, TTL: protocol.Duration(-time.Minute), OnExpiry: resource.ExpiryRelease}}},
		"softTimeout": {HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopSoft, SoftTimeout: protocol.Duration(-time.Second)}}},
	} {
		h.ID, h.Key = "h", "k"
		y := story(t, func(s *Snapshot) { s.Holds = []Hold{{ActiveHold: h, EnforcedAt: at(0)}} })
		y.read(protocol.PowerOn, 1*sec, nil)
		y.want(ActGraceful)
		y.condition(resource.CondHoldMalformed)
		y.until(protocol.PowerOff, 5*sec, 700*sec)
		y.receipt("h", true)
		if len(y.ended) != 0 {
			t.Errorf("%s: it ended", name)
		}
	}
}

// TestFirmwareWork: nothing is sent while a server's firmware is changed, unless a
// hold says so; it is seen to wait, and begins when the mark ends.
func TestFirmwareWork(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	work := func(s *Snapshot) {
		s.Firmware = &resource.FirmwareWork{By: "ann", Reason: "BIOS 2.1", NotAfter: at(60 * sec)}
		s.HubTime = at(0)
	}
	begun := func(change func(*Snapshot)) *play {
		return story(t, func(s *Snapshot) {
			work(s)
			s.Record.Owners.Provisioned = provisionedBy("claim-1")
			change(s)
		})
	}
	t.Run("a hold waits", func(t *testing.T) {
		for _, mode := range []resource.StopMode{resource.StopSoft, resource.StopHard} {
			y := begun(func(s *Snapshot) { s.Holds = held(mode, "h") })
			y.read(on, 1*sec, nil)
			y.happened(resource.EventHoldBlocked)
			for d := 2 * sec; d < 60*sec; d += 5 * sec {
				y.s.HubTime = at(d)
				y.read(on, d, nil)
				y.want(ActNone)
				y.condition(resource.CondHoldBlocked)
				y.state(resource.StateStopping, "firmware: BIOS 2.1, by ann")
				if len(y.p.Happened) != 0 {
					t.Fatalf("said again: %v", y.p.Happened)
				}
			}
			y.s.HubTime = at(60 * sec)
			y.read(on, 60*sec, nil)
			y.want(map[resource.StopMode]ActionKind{resource.StopSoft: ActGraceful, resource.StopHard: ActForceOff}[mode])
			y.lacks(resource.CondHoldBlocked)
		}
	})
	t.Run("a hold that does not wait", func(t *testing.T) {
		y := begun(func(s *Snapshot) { s.Holds = held(resource.StopHard, "h", "i"); s.Holds[1].ForceDuringFirmware = true })
		y.read(on, 1*sec, nil)
		y.want(ActForceOff)
		y.lacks(resource.CondHoldBlocked)
	})
	t.Run("Off by itself is a proof", func(t *testing.T) {
		y := begun(func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.read(off, 1*sec, nil)
		y.read(off, 6*sec, nil)
		y.want(ActNone)
		y.receipt("h", true)
		y.lacks(resource.CondHoldBlocked)
	})
	t.Run("nothing is powered on", func(t *testing.T) {
		y := begun(func(s *Snapshot) { s.Firmware = nil })
		y.read(off, 1*sec, nil)
		y.want(ActArm)
		work(&y.s)
		y.read(off, 2*sec, y.answered(""))
		y.want(ActNone)
		y.s.HubTime = time.Time{} // then the agent's own clock counts
		y.read(off, 59*sec, nil)
		y.want(ActNone)
		y.read(off, 60*sec, nil)
		y.want(ActDisarm)
		y.read(off, 61*sec, y.answered(""))
		y.want(ActArm)
	})
	t.Run("a soft stop that waited has all its time", func(t *testing.T) {
		y := begun(func(s *Snapshot) { s.Firmware = nil; s.Holds = held(resource.StopSoft, "h") })
		y.read(on, 1*sec, nil)
		y.want(ActGraceful)
		work(&y.s)
		y.until(on, 5*sec, 55*sec)
		y.want(ActNone)
		y.s.HubTime = at(60 * sec)
		y.read(on, 60*sec, nil)
		y.want(ActGraceful)
		y.read(on, 79*sec, y.answered(""))
		y.want(ActNone)
		y.read(on, 80*sec, nil)
		y.want(ActForceOff)
	})
	t.Run("a claim's stop and a reboot wait", func(t *testing.T) {
		for _, ask := range []bool{false, true} {
			y := begun(func(s *Snapshot) {
				if s.Intent.Power = resource.WantOff; ask {
					s.Intent.Power = resource.WantOn
					s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, NotAfter: at(5 * time.Minute)}}
				}
			})
			y.read(on, 1*sec, nil)
			y.want(ActNone)
			y.s.HubTime = at(61 * sec)
			y.read(on, 61*sec, nil)
			y.want(ActGraceful)
		}
	})
	t.Run("a reset by the work violates nothing", func(t *testing.T) {
		y := begun(func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		for i, word := range []string{"2026-11-20T08:00:00Z", "2026-11-20T08:30:00Z"} {
			y.s.Observation = seen(on, time.Duration(i+1)*sec)
			y.s.Observation.LastResetTime = word
			y.step(time.Duration(i+1) * sec)
		}
		y.lacks(resource.CondHoldViolated)
	})
}

// TestConfirmedDown: an operator's word counts while the BMC is silent, is no proof,
// and every read is worth more.
func TestConfirmedDown(t *testing.T) {
	const on, off, silent = protocol.PowerOn, protocol.PowerOff, protocol.PowerUnreachable
	confirmed := func(t *testing.T) *play {
		t.Helper()
		return story(t, func(s *Snapshot) {
			s.Holds = held(resource.StopHard, "h")
			s.Holds[0].ConfirmedDown = &resource.Confirmation{By: "ann", Reason: "cable pulled", At: at(0)}
		})
	}
	manual := func(y *play, want bool) {
		y.t.Helper()
		r, got := y.p.Record.Holds.Manual["h"]
		if got != want || got && (r.Manual == nil || r.Reads != 0 || r.HoldID != "h") {
			y.t.Fatalf("manual receipt %t: %+v", got, r)
		}
		y.receipt("h", false)
	}
	t.Run("taken, and replaced by a proof", func(t *testing.T) {
		y := confirmed(t)
		y.read(silent, 1*sec, nil)
		manual(y, false)
		y.state(resource.StateUnreachable, "")
		y.read(silent, 6*sec, nil)
		manual(y, true)
		y.happened(resource.EventHoldConfirmed)
		y.state(resource.StateConfirmed, "ann: cable pulled")
		y.restart()
		y.read(silent, 7*sec, nil)
		manual(y, true)
		y.read(off, 10*sec, nil)
		manual(y, true)
		y.state(resource.StateConfirmed, "ann")
		y.read(off, 15*sec, nil)
		y.receipt("h", true)
		if len(y.p.Record.Holds.Manual) != 0 {
			t.Error("the word is still there")
		}
		y.state(resource.StateFenced, "")
	})
	t.Run("void", func(t *testing.T) {
		y := confirmed(t)
		y.read(on, 0, nil)
		y.read(silent, 11*sec, y.answered(protocol.CodeTimeout))
		y.read(silent, 17*sec, nil)
		manual(y, true)
		y.read(on, 30*sec, nil)
		manual(y, false)
		y.happened(resource.EventHoldViolated)
		y.want(ActForceOff)
		y.state(resource.StateViolated, "counts only while the BMC does not answer")
	})
	t.Run("no effect while the BMC answers", func(t *testing.T) {
		y := confirmed(t)
		y.read(on, 1*sec, nil)
		y.want(ActForceOff)
		manual(y, false)
		y.state(resource.StateForcing, "confirmed down by ann, which counts only while")
		y.read(silent, 3*sec, y.answered(""))
		y.read(on, 4*sec, nil)
		y.read(silent, 8*sec, nil)
		manual(y, false)
		if y.p.RecheckAt.After(at(13 * sec)) {
			t.Errorf("looks again at %v", y.p.RecheckAt)
		}
	})
}
