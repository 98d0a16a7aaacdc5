package rack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// A maintenance takes a running server from its claim, boots it from the network, and
// gives it back: Off is proved in between, and the claim boots its disk with the record
// that it had.
func TestMaintenance(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the claim's disk boot", 0, diskBoot)
	claim := b.intents[0]

	in := &b.intents[0]
	boot := *in.Boot
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle = "m1", "m-uid", resource.PurposeMaintenance, true
	boot.Owner.Name, boot.Owner.UID, boot.Owner.Kind = in.Owner.Name, in.Owner.UID, in.Owner.Kind
	in.Boot = &boot
	b.grant(0)
	b.send(a)
	r := b.until("the report of the maintenance image", 0, func(r resource.ServerReport) bool {
		return r.OwnerUID == "m-uid" && r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Attempt.Intended == protocol.TargetUefiHTTP &&
			r.Observation.Power == protocol.PowerOff
	})
	b.booted(0, 2, 1)
	var p resource.Provisioned
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &p); err != nil || p.OwnerUID != "m-uid" {
		t.Errorf("%+v: %v", p, err)
	}
	// The image ended by powering off: nobody ordered that, and nothing is booted again.
	b.until("it waits for somebody", 0, has(resource.CondUnexpectedPower))

	in.Power, in.Releasing, in.Boot = resource.WantOff, true, nil
	b.send(a)
	b.until("the server is given back", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "m-uid" && r.Released })
	b.intents[0] = claim
	b.send(a)
	r = b.until("the claim's disk boot again", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "claim-uid" && diskBoot(r) })
	b.booted(0, 2, 2)
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &p); err != nil || p.OwnerUID != "claim-uid" {
		t.Errorf("%+v: %v", p, err)
	}
}

// boot: Network with an installer that restarts nothing: the disk is never booted, and
// a second boot needs an order.
func TestBootNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.BootPolicy.Boot = resource.BootNetwork
	b.grant(0)
	b.send(a)
	b.until("it waits for somebody after its image ended", 0, func(r resource.ServerReport) bool {
		return has(resource.CondUnexpectedPower)(r) && r.Observation.Power == protocol.PowerOff && len(r.Provisioned) > 0
	})
	b.asks = []resource.Request{{ID: "reboot-1", Server: b.servers[0].Name, Action: resource.RequestReboot, Mode: resource.StopSoft, NotAfter: time.Now().Add(time.Minute)}}
	b.send(a)
	b.until("the second boot from the network", 0, func(r resource.ServerReport) bool {
		n, _, _, inst := b.servers[0].Boots.Counts()
		return n == 2 && inst == 2 && r.Observation.Power == protocol.PowerOff
	})
	b.booted(0, 2, 0)
}

// A maintenance is given its user data at each boot that somebody orders, by that boot's
// token; at its end nothing of it is left.
func TestMaintenanceUserData(t *testing.T) {
	t.Parallel()
	b := benchWithData(t, 1, 500*time.Millisecond)
	a, _ := b.start(nil)
	b.claim(0)
	in := &b.intents[0]
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle = "m1", "m-uid", resource.PurposeMaintenance, true
	in.Boot.Owner.Name, in.Boot.Owner.UID, in.Boot.Owner.Kind = in.Owner.Name, in.Owner.UID, in.Owner.Kind
	in.Boot.Ignition, in.Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.grant(0)
	sealed := strings.TrimPrefix(in.Boot.Ignition.Sealed, "sha256:")
	b.send(a)
	bases := map[string]bool{}
	for n := 1; n <= 2; n++ {
		b.until("the report of the image", 0, func(r resource.ServerReport) bool {
			_, _, _, inst := b.servers[0].Boots.Counts()
			return inst == n && r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Observation.Power == protocol.PowerOff
		})
		base, leased := b.servers[0].Boots.Installing()
		if _, data := b.servers[0].Boots.UserData(); string(data) != string(content()) {
			t.Errorf("boot %d got %q", n, data)
		}
		if status, _, _ := b.get(http.MethodGet, base+protocol.FileIgnition, leased); status != http.StatusNotFound {
			t.Errorf("after boot %d: %d", n, status)
		}
		if bases[base] = true; !b.onDisk(sealed) {
			t.Errorf("after boot %d it is gone, and the next one needs it", n)
		}
		if n == 1 {
			b.want("again", resource.RequestReboot, "")
			b.send(a)
		}
	}
	if len(bases) != 2 {
		t.Error("two boots by one token")
	}
	in.Power, in.Releasing, in.Boot = resource.WantOff, true, nil
	b.send(a)
	b.until("the server is given back", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "m-uid" && r.Released })
	b.eventually("the destruction of the user data", func() bool { return !b.onDisk(sealed) })
}
