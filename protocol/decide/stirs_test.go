package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestStirsTable(t *testing.T) {
	doctable.Of(t, "stirs.go", "stirsRule").Hold(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) []string {
		return []string{yes(stirsRule(in[0] == "yes", in[1] == "yes", in[2] == "yes"))}
	})
}

// TestStirs: of all that an installer fetches, what moves its attempt asks for a read.
func TestStirs(t *testing.T) {
	y := story(t, nil)
	y.read(protocol.PowerOff, 0, nil)
	y.read(protocol.PowerOff, sec, y.answered(""))
	y.read(protocol.PowerOff, 2*sec, y.answered(""))
	fold := func(d time.Duration, e Event, want bool) {
		t.Helper()
		was := y.s.Watch
		e.At = at(d)
		y.s.Events, y.s.Passive = []Event{e}, true
		y.step(d)
		y.s.Passive = false
		if got := Stirs(y.p, was); got != want {
			t.Errorf("%+v: %t, want %t", e, got, want)
		}
	}
	fold(3*sec, Event{Kind: protocol.EvidenceDHCP, Class: protocol.ClassHTTPClient}, true)
	fold(4*sec, Event{Begun: true, Token: "token"}, true)
	fold(4*sec, Event{Begun: true, Token: "token"}, false)
	fold(5*sec, Event{Kind: protocol.EvidenceFetched, File: "deb", Token: "token"}, false)
	fold(6*sec, Event{Kind: protocol.EvidenceFetched, File: "boot.efi", Token: "token"}, true)
	fold(7*sec, Event{Kind: protocol.EvidenceFetched, File: "boot.efi", Token: "token"}, false)
	fold(30*sec, Event{Kind: protocol.EvidenceDHCP, Class: protocol.ClassNone}, true)
	fold(31*sec, Event{Kind: protocol.EvidenceDHCP, Class: protocol.ClassNone}, false)
	fold(50*sec, Event{Kind: protocol.EvidenceInstalled, Token: "token"}, true)
}
