package rack

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// discovers has servers whose image reports what say says, and nobody's claim.
func discovers(t *testing.T, servers int, say func() protocol.ProbeReport, change func(*sim.ServerConfig)) *bench {
	t.Helper()
	return newBenchOf(t, t.TempDir(), servers, bmcsim.Plain(), func(c *sim.ServerConfig) {
		c.Live = say
		if change != nil {
			change(c)
		}
	})
}

func reports(s protocol.ProbeState) func() protocol.ProbeReport {
	return func() protocol.ProbeReport { return protocol.ProbeReport{State: s, Message: "of a disk that hangs"} }
}

// discover gives server i to a discovery of attempts boots.
func (b *bench) discover(i, attempts int, uid string) {
	b.t.Helper()
	in := &b.intents[i]
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.Power, in.Releasing = "discovery", uid, resource.PurposeDiscovery, resource.WantOn, false
	in.Boot = &message.BootIntent{
		Owner:       resource.Owner{Kind: in.Owner.Kind, Name: in.Owner.Name, UID: uid},
		GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{Image: b.image, BootPolicy: resource.DiscoveryPolicy()}},
		Timeout:     time.Minute,
	}
	grant, err := wire.Seal(b.hub, wire.FactGrant, message.Grant{
		OwnerUID: uid, Generation: 1, Server: in.Server, ServerUID: in.UID, ImageDigest: b.image.Digest,
		FirstBoot: resource.FirstBootPxe, MaxAttempts: attempts, IssuedAt: time.Now(), Purpose: in.Owner.Kind,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	in.Boot.Grant = grant
}

// ends is the end of the discovery of server i, which the hub orders.
func (b *bench) ends(i int) {
	in := &b.intents[i]
	in.Power, in.Releasing, in.Boot = resource.WantOff, true, nil
}

func discovered(r resource.ServerReport) bool {
	return r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Attempt.Evidence == protocol.EvidenceDiscovered && r.Image != nil && r.Image.Inventory != nil
}

// Seed 000, Discovery lifecycle: Pxe Once, the report, Off, and nothing is left. What
// firmware makes of the order is served and told.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]protocol.BootTarget{"by PXE": protocol.TargetPxe, "by HTTP": protocol.TargetUefiHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := discovers(t, 1, reports(protocol.ProbeDiscovered), func(c *sim.ServerConfig) { c.HTTPForPXE = by == protocol.TargetUefiHTTP })
			a, _ := b.start(nil)
			b.discover(0, 3, "discovery-1")
			b.send(a)
			r := b.until("the inventory, and Off", 0, func(r resource.ServerReport) bool { return discovered(r) && r.Observation.Power == protocol.PowerOff })
			if r.Attempt.Intended != protocol.TargetPxe || r.Attempt.Observed != by || len(r.Provisioned) > 0 || len(r.Conditions) > 0 {
				t.Errorf("%+v, provisioned %d, %+v", r.Attempt, len(r.Provisioned), r.Conditions)
			}
			if r.Image.Inventory.Interfaces[0].MAC != b.servers[0].MAC {
				t.Errorf("%+v", r.Image)
			}
			for _, h := range b.servers[0].BMC.History() {
				if h.What == bmcsim.RecordPatch && strings.Contains(h.Detail, string(protocol.TargetUefiHTTP)) {
					t.Errorf("the order was %+v", h)
				}
			}
			b.ends(0)
			b.send(a)
			b.until("its end", 0, func(r resource.ServerReport) bool { return r.Released && r.Attempt == nil })
			if got := b.resets(0); !slices.Equal(got, []string{"On"}) {
				t.Errorf("resets %v", got)
			}
			if n, d, _, _ := b.servers[0].Boots.Counts(); n != 1 || d != 0 {
				t.Errorf("boots: %d network, %d disk", n, d)
			}
		})
	}
}

// Facts boot-policy row 25: a host that is found On is left alone without leave, also
// when the discovery ends; with leave it is stopped and booted.
func TestDiscoveryFoundOn(t *testing.T) {
	t.Parallel()
	b := discovers(t, 1, reports(protocol.ProbeDiscovered), nil)
	b.servers[0].BMC.PressPowerButton()
	b.eventually("On", func() bool { return b.servers[0].BMC.PowerState() == protocol.PowerOn })
	a, _ := b.start(nil)
	b.discover(0, 3, "discovery-1")
	b.send(a)
	r := b.until("why it waits", 0, has(resource.CondServerOn))
	if i := slices.IndexFunc(r.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondServerOn }); !strings.Contains(r.Conditions[i].Message, "allowPowerCycle") {
		t.Errorf("%+v", r.Conditions)
	}
	b.ends(0)
	b.send(a)
	b.until("its end", 0, func(r resource.ServerReport) bool { return r.Released && r.Observation.Power == protocol.PowerOn })
	if got := b.resets(0); len(got) > 0 {
		t.Fatalf("it was not left alone: %v", got)
	}
	b.discover(0, 3, "discovery-2")
	b.intents[0].PowerCycle = true
	b.send(a)
	b.until("the inventory", 0, discovered)
	if got := b.resets(0); len(got) < 2 || got[0] != "GracefulShutdown" || got[len(got)-1] != "On" {
		t.Errorf("resets %v", got)
	}
}

// Facts boot-policy row 25: attempts are bounded, with a pause between them, and then it
// is over until somebody asks. What an image says is the reason.
func TestDiscoveryGivenUp(t *testing.T) {
	t.Parallel()
	b := discovers(t, 1, reports(protocol.ProbeFailed), nil)
	a, _ := b.start(nil)
	b.discover(0, 2, "discovery-1")
	begun := time.Now()
	b.send(a)
	b.until("the first failure", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.Code == resource.AttemptImageFailed && strings.Contains(r.Attempt.Reason, "a disk that hangs")
	})
	r := b.until("that it is given up, and Off", 0, func(r resource.ServerReport) bool {
		return has(resource.CondDiscoveryFailed)(r) && r.Observation.Power == protocol.PowerOff
	})
	if since := time.Since(begun); since < 5*time.Second {
		t.Errorf("given up after %s, without a pause", since)
	}
	i := slices.IndexFunc(r.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondDiscoveryFailed })
	if got := r.Conditions[i].Message; !strings.HasPrefix(got, "2 of 2 attempts; the last: ImageFailed: ") {
		t.Error(got)
	}
	if n, d, _, _ := b.servers[0].Boots.Counts(); n != 2 || d != 0 {
		t.Errorf("boots: %d network, %d disk", n, d)
	}
	b.ends(0)
	b.send(a)
	b.until("its end", 0, func(r resource.ServerReport) bool { return r.Released })
	b.discover(0, 2, "discovery-2")
	b.send(a)
	b.eventually("a boot by the new one", func() bool { n, _, _, _ := b.servers[0].Boots.Counts(); return n == 3 })
}

// A hold in the middle stops it (P2); it goes on after the release.
func TestDiscoveryAndHold(t *testing.T) {
	t.Parallel()
	var says atomic.Value
	says.Store(protocol.ProbeState(""))
	b := discovers(t, 1, func() protocol.ProbeReport { return protocol.ProbeReport{State: says.Load().(protocol.ProbeState)} }, nil)
	a, _ := b.start(nil)
	b.discover(0, 3, "discovery-1")
	b.send(a)
	b.until("the fetch", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	b.hold(a, "h1", resource.StopHard)
	b.until("Fenced", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 1 && r.Holds[0].Word == resource.HoldFenced })
	says.Store(protocol.ProbeDiscovered)
	b.release(a)
	b.until("the inventory", 0, discovered)
}

// The agent is restarted in the middle, and once more with an empty disk.
func TestDiscoveryAndRestarts(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	b := discovers(t, 1, func() protocol.ProbeReport {
		<-gate
		return protocol.ProbeReport{State: protocol.ProbeDiscovered}
	}, nil)
	a, stop := b.start(nil)
	b.discover(0, 3, "discovery-1")
	b.intents[0].Boot.GrantFor = b.incarnation()
	b.send(a)
	first := b.until("the fetch", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	stop()
	a, stop = b.start(nil)
	b.send(a)
	close(gate)
	r := b.until("the inventory after a restart", 0, func(r resource.ServerReport) bool { return discovered(r) && r.Observation.Power == protocol.PowerOff })
	if r.Attempt.ID != first.Attempt.ID {
		t.Errorf("another attempt: %+v", r.Attempt)
	}

	// Another disk has no right to the grant, and nothing of the discovery.
	stop()
	if err := os.RemoveAll(b.dir + "/state"); err != nil {
		t.Fatal(err)
	}
	a, _ = b.start(nil)
	b.send(a)
	b.until("that the grant is another disk's", 0, has(resource.CondGrantInvalid))
	if n, _, _, _ := b.servers[0].Boots.Counts(); n != 1 {
		t.Errorf("%d boots", n)
	}
	b.discover(0, 3, "discovery-2")
	b.intents[0].Boot.GrantFor = b.incarnation()
	b.send(a)
	b.until("the inventory again", 0, discovered)
}

// Design 5, serve gate: a machine that no server names is the one whose discovery is the
// only one of the segment; of several it is refused, and that is said.
func TestDiscoveryOfAStranger(t *testing.T) {
	t.Parallel()
	b := discovers(t, 2, reports(protocol.ProbeDiscovered), nil)
	for i := range b.intents {
		b.intents[i].BootMAC = "02:00:00:00:99:0" + string(rune('1'+i)) // a typing error, or a changed board
	}
	a, _ := b.start(nil)
	b.discover(0, 3, "discovery-1")
	b.send(a)
	r := b.until("the inventory", 0, func(r resource.ServerReport) bool { return discovered(r) && r.Observation.Power == protocol.PowerOff })
	if r.Image.Inventory.Interfaces[0].MAC != b.servers[0].MAC {
		t.Errorf("%+v", r.Image)
	}
	b.discover(0, 3, "discovery-2")
	b.discover(1, 3, "discovery-3")
	b.send(a)
	b.eventually("that it is said", func() bool { return b.agentHas(resource.CondDiscoveryAmbiguous) })
}
