package rollout

import (
	"testing"
	"time"
)

// BenchmarkStep is a step in the middle of a roll-out to 1,000 servers in 20 racks: some
// are on their way, and there is room for more.
func BenchmarkStep(b *testing.B) {
	w := fleet(1, fleetSpec())
	w.stamped = true
	for range 90 {
		if err := w.hub(); err != nil {
			b.Fatal(err)
		}
		w.tick(time.Minute)
	}
	in := Input{Now: w.now, Spec: w.spec, Status: w.status, Servers: w.view(), Stamped: true}
	if n := w.states(); n["Done"] < 100 || n["Waiting"] < 100 {
		b.Fatalf("not in the middle: %v", n)
	}
	for b.Loop() {
		Step(in)
	}
}
