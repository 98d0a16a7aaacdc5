package decide

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// BenchmarkStep is one decision about a server at rest and one about a server
// under way. Target: at most 5 µs.
func BenchmarkStep(b *testing.B) {
	s := given()
	s.Record.Attempt = &Attempt{ID: "a", Stage: Stage{State: resource.AttemptSucceeded}, Order: Order{Target: protocol.TargetHdd, OwnerUID: "claim-1", Generation: 1}}
	s.Record.Shown.Power, s.Record.Shown.Seen, s.Record.Owners.Provisioned = protocol.PowerOn, protocol.PowerOn, provisionedBy("claim-1")
	s.Record.Owners.Used = map[string]GrantUse{"claim-1/1": {Attempts: 1, Spent: true}}
	s.Observation = seen(protocol.PowerOn, 0)
	b.Run("rest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p := Step(at(0), s); p.Action.Kind != ActNone || p.Persist {
				b.Fatalf("%+v", p)
			}
		}
	})
	s = given()
	s.Observation = seen(protocol.PowerOff, 0)
	b.Run("begin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p := Step(at(0), s); p.Action.Kind != ActArm {
				b.Fatalf("%+v", p)
			}
		}
	})
}
