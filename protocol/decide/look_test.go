package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestCloselyTable(t *testing.T) {
	doctable.Of(t, "look.go", "closely").Hold(t, [][]string{doctable.Words(stages...), doctable.YesNo()}, func(in []string) []string {
		return doctable.Words(closely(stage(in[0]), in[1] == "yes"))
	})
}

// TestLook: after a ForceOff the BMC is read as fast as it answers, for as long as the
// order may take; before and after that once a second.
func TestLook(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		mode     resource.StopMode
		at, took time.Duration // of the read after the stop was sent
		want     time.Duration
		what     string
	}{
		{resource.StopHard, 10 * ms, ms, lookMin, "at once"},
		{resource.StopHard, 200 * ms, 200 * ms, 200 * ms, "as Dell answers, 0.19 s in the mean"},
		{resource.StopHard, 4 * sec, 3 * sec, activeInterval, "as HPE answers at worst, 3.4 s"},
		{resource.StopHard, 9900 * ms, ms, lookMin, "just before it is sent again"},
		{resource.StopSoft, 10 * ms, ms, activeInterval, "of a soft stop"},
	} {
		y := story(t, func(s *Snapshot) { s.Holds = held(tt.mode, "h") })
		y.read(protocol.PowerOn, 0, nil)
		y.took(protocol.PowerPoweringOff, tt.at, tt.took)
		if got := y.p.RecheckAt.Sub(at(tt.at)); got != tt.want {
			t.Errorf("%s: read again after %s, want %s", tt.what, got, tt.want)
		}
	}
	t.Run("not after a ForceOff that was sent again", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.read(protocol.PowerOn, 0, nil)
		y.want(ActForceOff)
		y.read(protocol.PowerOn, resendForce, nil)
		y.want(ActForceOff)
		y.took(protocol.PowerOn, resendForce+sec, ms)
		if got := y.p.RecheckAt.Sub(at(resendForce + sec)); got != activeInterval {
			t.Errorf("read again after %s", got)
		}
	})
}

// took steps with a read that ended after d and took a while.
func (y *play) took(p protocol.PowerState, d, took time.Duration) {
	y.t.Helper()
	y.s.Observation = seen(p, d)
	y.s.Observation.ReadAt = at(d)
	y.s.Observation.StartedAt = at(d).Add(-took)
	y.p = Step(at(d), y.s)
	y.s.Record, y.s.Watch, y.s.Observation = y.p.Record, y.p.Watch, nil
}
