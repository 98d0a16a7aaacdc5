package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestLingerTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "linger.go", "lingerRule").Hold(t, [][]string{yn, yn, yn}, func(in []string) []string {
		kept := "no"
		if lingerRule(in[0] == "yes", in[1] == "yes", in[2] == "yes") {
			kept = "yes"
		}
		return []string{kept}
	})
}

// TestLingers: the hold of a server that nothing else is ordered of ends between our stop
// and the read that shows it. The Off is ours; one that comes after its time is not.
func TestLingers(t *testing.T) {
	for name, tt := range map[string]struct {
		mode  resource.StopMode
		stays int // reads of On after the release, each a second
		ours  bool
	}{
		"ForceOff shows at once":          {resource.StopHard, 0, true},
		"ForceOff shows late":             {resource.StopHard, 9, true},
		"ForceOff did nothing":            {resource.StopHard, 12, false},
		"GracefulShutdown takes its time": {resource.StopSoft, 15, true},
		"GracefulShutdown took too long":  {resource.StopSoft, 32, false},
	} {
		t.Run(name, func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent = nil })
			y.read(protocol.PowerOn, 0, nil)
			y.s.Holds = []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{Server: "server-1", HoldTerms: resource.HoldTerms{Mode: tt.mode}}}, EnforcedAt: at(sec)}}
			y.read(protocol.PowerOn, sec, nil)
			if tt.mode == resource.StopHard {
				y.want(ActForceOff)
			} else {
				y.want(ActGraceful)
			}
			y.s.Holds = nil
			y.step(sec + sec/2)
			for i := range tt.stays {
				y.read(protocol.PowerOn, 2*sec+time.Duration(i)*sec, nil)
			}
			y.read(protocol.PowerOff, 3*sec+time.Duration(tt.stays)*sec, nil)
			if u := y.p.Record.Unexpected; (u == nil) != tt.ours {
				t.Errorf("%+v", u)
			}
			if y.step(4*sec + time.Duration(tt.stays)*sec); y.p.Record.Stop != nil {
				t.Errorf("%+v", y.p.Record.Stop)
			}
		})
	}
}
