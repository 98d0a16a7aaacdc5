package decide

import (
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// discover gives a server that nobody owns to a discovery.
func (w *world) discover(attempts int, cycle bool) {
	if w.intent != nil && w.intent.Owner.UID != "" {
		return
	}
	w.claims++
	w.w.orders++
	uid := fmt.Sprintf("discovery-%d", w.claims)
	identity := ""
	if w.intent != nil {
		identity = w.intent.Identity
	}
	w.intent = &message.ServerIntent{
		Server: "server-1", UID: "uid-1", Owner: resource.Owner{Kind: resource.PurposeDiscovery, Name: "discovery", UID: uid}, PowerCycle: cycle, Power: resource.WantOn, Identity: identity,
		Boot: &message.BootIntent{
			Owner:       resource.Owner{Kind: resource.PurposeDiscovery, UID: uid},
			GrantedBoot: resource.GrantedBoot{Generation: 1, GrantFor: w.incarnation, BootSpec: resource.BootSpec{BootPolicy: resource.DiscoveryPolicy(), Image: resource.Image{Digest: "sha256:probe"}}},
			Timeout:     10 * time.Minute,
		},
	}
	w.grant = &message.Grant{
		OwnerUID: uid, Generation: 1, Server: "server-1", ServerUID: "uid-1", ImageDigest: "sha256:probe", Purpose: resource.PurposeDiscovery,
		FirstBoot: resource.FirstBootPxe, MaxAttempts: attempts, IssuedAt: w.clock(),
	}
	w.poke()
}

// leaveAlone checks that a discovery without leave stops no server that it did not power
// on itself.
func (x *witness) leaveAlone(s Snapshot, p Plan) {
	in := s.Intent
	if !discovering(in) || in.PowerCycle || len(s.Holds) > 0 || len(s.Requests) > 0 || len(p.Record.Requests) > 0 || x.blind || x.unseenOff || p.Record.Pending {
		return
	}
	if by := x.world.m.onBy; by != in.Owner.UID && s.Record.Stop == nil {
		x.t.Fatalf("facts row 25: %s of a server that %q powered on, during %s", p.Action.Kind, by, in.Owner.UID)
	}
}

// has says whether a condition is so.
func (w *world) has(code resource.ConditionCode) bool {
	for _, c := range w.conds {
		if c.Code == code {
			return true
		}
	}
	return false
}

func (w *world) release0() {
	w.want(func(in *message.ServerIntent) { in.Releasing, in.Power, in.Boot = true, resource.WantOff, nil })
}

// Seed 000: discovered, powered off, and nothing of it is left in the record.
func TestDiscoveryAndNothingLeft(t *testing.T) {
	w := newWorld(t)
	w.discover(3, false)
	w.until("discovered and Off", func() bool {
		r := w.record()
		return r.discovered("discovery-1") && w.m.power == protocol.PowerOff
	})
	if rec := w.record(); rec.Owners.Provisioned != nil || len(rec.Owners.Earlier) > 0 || w.m.disk || w.m.override.Armed() || len(w.conds) > 0 {
		t.Fatalf("%s %+v", w.disk, w.conds)
	}
	w.run(time.Hour)
	if w.w.ons != 1 {
		t.Fatalf("%d power-ons", w.w.ons)
	}
	w.release0()
	w.until("released", func() bool { return w.record().Owners.Released == "discovery-1" })
	if rec := w.record(); rec.Attempt != nil || rec.Owners.Provisioned != nil || rec.Unexpected != nil {
		t.Fatalf("%s", w.disk)
	}
}

// An image that stays on after its report is forced off.
func TestDiscoveredAndStillOn(t *testing.T) {
	w := newWorld(t)
	w.m.live = true
	w.discover(3, false)
	w.until("discovered", func() bool { r := w.record(); return r.discovered("discovery-1") })
	w.run(selfOff - 10*time.Second)
	if w.m.power != protocol.PowerOn {
		t.Fatal("it was not given its time")
	}
	w.until("Off", func() bool { return w.m.power == protocol.PowerOff })
}

// Facts boot-policy row 25: what is found On is not touched, whatever comes.
func TestDiscoveryLeavesAlone(t *testing.T) {
	w := newWorld(t)
	w.m.powerOn()
	w.run(time.Minute)
	w.discover(3, false)
	w.run(time.Hour)
	if w.m.power != protocol.PowerOn || !w.has(resource.CondServerOn) || w.record().Attempt != nil {
		t.Fatalf("%s, %s, %+v", w.m.power, w.disk, w.conds)
	}
	w.release0()
	w.until("released", func() bool { return w.record().Owners.Released == "discovery-1" })
	if w.m.power != protocol.PowerOn {
		t.Fatal("its end has stopped it")
	}
	w.want(func(in *message.ServerIntent) { *in = message.ServerIntent{Server: "server-1", UID: "uid-1"} })
	w.discover(3, true)
	w.until("discovered with leave", func() bool { r := w.record(); return r.discovered("discovery-2") })
}

// Attempts are bounded and further apart each time, and it says why it was given up.
func TestDiscoveryIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*world)
		code  resource.AttemptCode
	}{
		"the image fails":     {func(w *world) { w.fails = true }, resource.AttemptImageFailed},
		"the image is silent": {func(w *world) { w.m.hang = true }, resource.AttemptNoReport},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.discover(3, false)
			for range 400 {
				c.spoil(w)
				w.run(5 * time.Second)
			}
			if !w.has(resource.CondDiscoveryFailed) || w.w.ons != 3 || w.m.power != protocol.PowerOff || w.record().Attempt.Stage.Ending.Code != c.code {
				t.Fatalf("%d power-ons, %s, %s, %+v", w.w.ons, w.m.power, w.disk, w.conds)
			}
		})
	}
}

// A report of failure ends any boot, and none begins by itself.
func TestImageFailed(t *testing.T) {
	w := newWorld(t)
	w.claim(3)
	w.until("fetched", func() bool { a := w.record().Attempt; return a != nil && a.Stage.State == resource.AttemptFetched })
	w.fold(Event{Kind: protocol.EvidenceFailed, Token: w.record().Attempt.Token, At: w.clock(), Message: "no disk"})
	a := w.record().Attempt
	if a.Stage.State != resource.AttemptFailed || a.Stage.Ending.Code != resource.AttemptImageFailed || a.Stage.Ending.Reason != "the image reported that it failed: no disk" {
		t.Fatalf("%+v", a)
	}
	w.fold(Event{Kind: protocol.EvidenceInstalled, Token: a.Token, At: w.clock()})
	w.m.off()
	w.run(time.Hour)
	if rec := w.record(); w.w.ons != 1 || rec.Owners.Provisioned != nil || !w.has(resource.CondGrantSpent) {
		t.Fatalf("%d power-ons, %s, %+v", w.w.ons, w.disk, w.conds)
	}
}

// A maintenance takes a server in the middle of its discovery, and gives it back.
func TestMaintenanceInADiscovery(t *testing.T) {
	w := newWorld(t)
	w.m.hang = true
	w.discover(3, false)
	w.until("fetched", func() bool { a := w.record().Attempt; return a != nil && a.Stage.State == resource.AttemptFetched })
	w.m.live = true
	w.maintain(resource.WantOn, 1)
	w.until("booted for the maintenance", w.booted)
	w.m.live = false
	w.release0()
	w.until("released", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	w.giveBack()
	w.until("discovered after it", func() bool { r := w.record(); return r.discovered("discovery-1") })
}

// discoveryIsWell says whether a discovery has come to its end: the server is Off, or it
// runs for somebody else and the discovery is over.
func (w *world) discoveryIsWell(rec Record, off bool) bool {
	if w.intent.Releasing {
		return rec.Owners.Released == w.intent.Owner.UID && (off || w.w.blind || w.m.onBy != w.intent.Owner.UID)
	}
	return off && rec.discovered(w.intent.Owner.UID)
}

// An operator's reboot is the leave for a server that was found On.
func TestDiscoveryAndReboot(t *testing.T) {
	w := newWorld(t)
	w.m.powerOn()
	w.run(time.Minute)
	w.discover(3, false)
	w.run(time.Minute)
	w.w.orders++
	w.requests = []resource.Request{{
		ID: "r", Server: "server-1", Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: w.hubTime().Add(time.Minute), Incarnation: w.incarnation,
		Precondition: resource.Precondition{OwnerUID: "discovery-1"},
	}}
	w.poke()
	w.until("discovered after a reboot", func() bool { r := w.record(); return r.discovered("discovery-1") })
}
