package rack

import (
	"os"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestFullDisk fills the agent's disk: what cannot be recorded is not done, and a
// document that is not on disk is not acknowledged. With room it goes on.
func TestFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 64, func(t *testing.T, dir string) {
		b := newBenchIn(t, dir, 1, bmcsim.Plain())
		b.minFree = 16 << 20
		a, _ := b.start(nil)
		b.send(a)
		b.until("the first report", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff })

		statetest.Fill(t, dir+"/ballast", 8<<20)
		b.claim(0)
		b.send(a)
		b.eventually("GuardMode", func() bool { return b.agentHas(resource.CondGuardMode) })
		var m message.Applied
		if b.open(message.LeafApplied, &m) && m.Head.Version == b.version {
			t.Errorf("it acknowledges what is not on disk: %+v", m)
		}
		b.servers[0].BMC.ExternalOn() // a transition that wants recording
		b.eventually("GuardMode still", func() bool { return b.agentHas(resource.CondGuardMode) })
		if !b.idle(0) {
			t.Errorf("something was sent that is not on disk: %+v", b.servers[0].BMC.History())
		}

		if err := os.Remove(dir + "/ballast"); err != nil {
			t.Fatal(err)
		}
		b.eventually("the end of GuardMode", func() bool { return !b.agentHas(resource.CondGuardMode) })
		b.send(a) // as a hub does that hears the next Hello
		b.until("that the server is On", 0, has(resource.CondServerOn))
	})
}
