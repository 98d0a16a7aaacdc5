package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestOffTable(t *testing.T) {
	doctable.Of(t, "staleoff.go", "offRule").Hold(t, [][]string{doctable.YesNo(), {"before", "after"}, doctable.Words(armedOurs, armedOther, armedNone), {"due", "over"}},
		func(in []string) []string {
			return doctable.Words(offRule(in[0] == "yes", in[1] == "before", armed(in[2]), in[3] == "due"))
		})
}

// TestOffAfterTheBootBegan: On is sent at 2 s and answered, firmware asks for its boot
// file, and then reads come in that say Off.
func TestOffAfterTheBootBegan(t *testing.T) {
	const consumed, failed = resource.AttemptConsumed, resource.AttemptFailed
	ours := protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce}
	for name, tt := range map[string]struct {
		asks  time.Duration // when firmware does, and the step of it
		begun time.Duration // when the read of that step was begun
		shows protocol.Override
		again time.Duration // a read after it, none if 0
		want  resource.AttemptState
	}{
		"begun before firmware took the override (beskar7 203)": {asks: 3 * sec, begun: 2500 * time.Millisecond, shows: ours, want: consumed},
		"begun after it, power and override both late":          {asks: 3 * sec, begun: 3 * sec, shows: ours, want: consumed},
		"only the power is late (ironic waits 15 s)":            {asks: 3 * sec, begun: 3 * sec, again: 12 * sec, want: consumed},
		"no read since the On (Dell: 503 SYS518 for 45 s)":      {asks: time.Minute, begun: 2 * sec, shows: ours, want: consumed},
		"it is Off by a read long after, and boots no more":     {asks: 3 * sec, begun: 3 * sec, again: 3*sec + onUnseen, want: failed},
		"Off and armed by a read long after: nobody took it":    {asks: 3 * sec, begun: 3 * sec, shows: ours, again: 3*sec + onUnseen, want: failed},
	} {
		t.Run(name, func(t *testing.T) {
			y := story(t, nil)
			y.read(protocol.PowerOff, sec, nil)
			y.read(protocol.PowerOff, 2*sec, y.answered(""))
			y.want(ActOn)
			y.s.Result = y.answered("")
			y.s.Events = []Event{{Kind: protocol.EvidenceDHCP, Class: protocol.ClassHTTPClient, At: at(tt.asks)}}
			y.s.Observation = seen(protocol.PowerOff, tt.begun)
			y.s.Observation.Override = tt.shows
			y.step(tt.asks)
			y.happened(resource.EventConsumed)
			if tt.again > 0 {
				y.bmc = tt.shows
				y.read(protocol.PowerOff, tt.again, nil)
			}
			if a := y.p.Record.Attempt; a.Stage.State != tt.want {
				t.Errorf("%s (%s), want %s", a.Stage.State, a.Stage.Ending.Reason, tt.want)
			}
		})
	}
}
