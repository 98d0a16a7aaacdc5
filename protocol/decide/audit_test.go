package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestIdleSaysNothing: a server at rest, held or not, causes no event and no write.
func TestIdleSaysNothing(t *testing.T) {
	for name, change := range map[string]func(*Snapshot){
		"runs": func(s *Snapshot) {
			s.Record.Owners.Provisioned, s.Record.Shown.Power = provisionedBy("claim-1"), protocol.PowerOn
			s.Record.Attempt = &Attempt{ID: "a", Stage: Stage{State: resource.AttemptSucceeded}, Order: Order{Target: protocol.TargetHdd, OwnerUID: "claim-1", Generation: 1}}
		},
		"held":            func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h", "i") },
		"held, no policy": func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h"); s.CanGuard = false },
		"silent":          func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h") },
	} {
		power := map[string]protocol.PowerState{"runs": protocol.PowerOn, "silent": protocol.PowerUnreachable}[name]
		if power == "" {
			power = protocol.PowerOff
		}
		y := story(t, change)
		y.until(power, 1*sec, 30*sec)
		for d := 60 * sec; d < time.Hour; d += 15 * sec {
			if p := y.read(power, d, nil); len(p.Happened) != 0 || p.Persist || p.Action.Kind != ActNone {
				t.Fatalf("%s: %v, persist %t, %+v", name, p.Happened, p.Persist, p.Action)
			}
		}
	}
}

// TestPowerEvents: each order is on disk before it is sent, its answer and each change
// of what is shown follow, once.
func TestPowerEvents(t *testing.T) {
	y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h"); s.CanGuard = false })
	var told []string
	note := func(p Plan) {
		for _, e := range p.Happened {
			if slices.Contains([]resource.EventCode{resource.EventOrdered, resource.EventAnswered, resource.EventPowerSeen}, e.Code) {
				told = append(told, e.Message)
			}
		}
	}
	note(y.read(protocol.PowerOn, 1*sec, nil))
	note(y.read(protocol.PowerOn, 2*sec, y.answered(protocol.CodeUnavailable)))
	note(y.read(protocol.PowerOn, 6*sec, nil))
	note(y.read(protocol.PowerPoweringOff, 7*sec, y.answered("")))
	note(y.read(protocol.PowerOff, 8*sec, nil))
	note(y.read(protocol.PowerOff, 9*sec, nil))
	want := []string{
		"On", "force-off: h", "force-off: unavailable: ", "force-off: h", "PoweringOff after On", "Off after PoweringOff",
	}
	got := strings.Join(told, "; ")
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in %s", w, got)
		}
	}
	if n := strings.Count(got, ";") + 1; n != len(want)+1 { // and one that was accepted
		t.Errorf("%d events: %s", n, got)
	}
}
