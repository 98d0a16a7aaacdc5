package decide

import (
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestEndedRequests: what became of a request is said again to a hub that was set back to
// an old copy and sends it again, although its notAfter is over; and it is not done again.
func TestEndedRequests(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	r := resource.Request{ID: "r", Action: resource.RequestPowerOff, Mode: resource.StopHard, NotAfter: at(60 * sec), Incarnation: "disk-1"}
	done := func() *play {
		y := story(t, func(s *Snapshot) { s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil })
		y.s.Requests = []resource.Request{r}
		y.read(on, 1*sec, nil)
		y.want(ActForceOff)
		y.read(off, 2*sec, y.answered(""))
		y.s.Requests = nil // the hub has its outcome
		y.read(off, 3*sec, nil)
		if n := len(y.p.Record.Requests); n != 0 {
			t.Fatalf("%d requests are kept", n)
		}
		y.read(on, 4*sec, nil)
		return y
	}
	again := func(y *play, d time.Duration) resource.Outcome {
		y.s.Requests, y.s.HubTime = []resource.Request{r}, at(d)
		y.read(on, d, nil)
		y.want(ActNone)
		if n := len(y.p.Record.Requests); n != 1 {
			t.Fatalf("%d requests", n)
		}
		return y.p.Record.Requests[0].Outcome
	}
	if got := again(done(), 2*time.Hour); got != resource.OutcomeDone {
		t.Errorf("sent again after two hours: %s", got)
	}
	y := done()
	y.restart()
	if got := again(y, 3*time.Hour); got != resource.OutcomeDone {
		t.Errorf("after a restart: %s", got)
	}
	y.s.Requests = nil
	y.read(on, 4*time.Hour, nil)
	if got := again(y, 5*time.Hour); got != resource.OutcomeDone {
		t.Errorf("for the second time: %s", got)
	}
	y = done()
	for i := range keepEnded + 3 {
		other := r
		other.ID, other.NotAfter = fmt.Sprint(i), at(0)
		y.s.Requests, y.s.HubTime = []resource.Request{other}, at(70*sec)
		y.read(on, 70*sec, nil)
		y.s.Requests = nil
		y.read(on, 71*sec, nil)
	}
	if n := len(y.p.Record.Ended); n != keepEnded {
		t.Errorf("%d are remembered, want %d", n, keepEnded)
	}
}
