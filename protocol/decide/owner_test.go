package decide

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// until runs the world until it is so, for at most an hour.
func (w *world) until(what string, is func() bool) {
	for range 720 {
		if is() {
			return
		}
		w.run(5 * time.Second)
	}
	w.t.Fatalf("not within an hour: %s; machine %s %+v, os %t\nrecord %s\nconditions %+v", what, w.m.power, w.m.override, w.m.os, w.disk, w.conds)
}

// booted says whether the owner's boot has succeeded and something runs.
func (w *world) booted() bool {
	a := w.record().Attempt
	return w.m.os && w.m.power == protocol.PowerOn && a != nil && a.Stage.State == resource.AttemptSucceeded && a.Order.OwnerUID == w.intent.Owner.UID
}

// TestMaintenanceAndBack is the seed's maintenance lifecycle, with the episode of
// metal-operator 938 in it: the claim's record survives, the installed system does not
// run before the maintenance has ended, and comes back from the disk.
func TestMaintenanceAndBack(t *testing.T) {
	w := newWorld(t)
	w.claim(3)
	w.until("installed and booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	rec := w.record()
	was := *rec.ProvisionedFor("claim-1", 1)
	w.m.live = true
	w.maintain(resource.WantOn, 2)
	w.until("booted for the maintenance", w.booted)
	rec = w.record()
	a := rec.Attempt
	if !a.Network() || a.Order.Digest != "sha256:firmware" || rec.ProvisionedFor("maintenance-2", 1) == nil {
		t.Fatalf("%+v", a)
	}

	if len(w.conds) > 0 {
		t.Fatalf("while it runs: %+v", w.conds)
	}
	// A firmware flow restarts the host: no override is armed, and nothing is guessed.
	w.w.outside = true
	w.m.restart()
	w.run(10 * time.Minute)
	if w.m.os || w.m.override.Armed() {
		t.Fatalf("after a restart in the maintenance: system %t, %+v", w.m.os, w.m.override)
	}
	if w.record().Unexpected == nil {
		t.Fatalf("nobody says that it restarted: %s", w.disk)
	}
	// An operator's reboot boots the maintenance image again.
	w.w.orders++
	w.requests = []resource.Request{{ID: "again", Server: "server-1", Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: w.hubTime().Add(time.Minute), Incarnation: w.incarnation, AnyPhase: true}}
	w.poke()
	w.until("booted again", func() bool { return w.booted() && w.record().Attempt.ID != a.ID })
	if !w.record().Attempt.Network() {
		t.Fatal("not from the network")
	}

	w.want(func(in *message.ServerIntent) { in.Releasing, in.Power, in.Boot = true, resource.WantOff, nil })
	w.until("released", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	w.giveBack()
	w.until("back at the claim", w.booted)
	rec = w.record()
	if rec.Attempt.Network() {
		t.Fatal("the claim was booted from the network")
	}
	if p := rec.ProvisionedFor("claim-1", 1); p == nil || *p != was {
		t.Fatalf("the claim's record was %+v and is %+v", was, p)
	}
}

// Facts row 19: a firmware flow needs several boots. Each order arms the network for once,
// after firmware was seen to take what was armed before; nothing lasts (metal-operator
// 939), and what a flow restarts by itself is reported and finds nothing.
func TestOrdersInAMaintenance(t *testing.T) {
	w := newWorld(t)
	w.claim(1)
	w.until("installed and booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	taken := []protocol.BootTarget{}
	folded := w.m.consumed
	w.m.consumed = func(b protocol.BootTarget) { taken = append(taken, b); folded(b) }
	w.m.live = true
	w.maintain(resource.WantOn, 1)
	for n := range 3 {
		w.until("booted by an order", func() bool { return w.booted() && len(taken) == n+1 })
		if w.m.override.Armed() || taken[n] != protocol.TargetUefiHTTP {
			t.Fatalf("boot %d: firmware took %v, and %+v is armed", n, taken, w.m.override)
		}
		w.w.orders++
		id := fmt.Sprintf("order-%d", n)
		w.requests = []resource.Request{{ID: id, Server: "server-1", Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: w.hubTime().Add(time.Minute), Incarnation: w.incarnation, AnyPhase: true}}
		w.poke()
	}
	w.until("booted by the last order", func() bool { return w.booted() && len(taken) == 4 })
	w.w.outside = true
	w.m.restart() // the flow's own
	w.until("it is reported", func() bool { return w.record().Unexpected != nil })
	w.run(10 * time.Minute)
	if last := taken[len(taken)-1]; len(taken) != 5 || last != protocol.TargetNone || w.m.os {
		t.Fatalf("after its own restart firmware took %v, system %t", taken, w.m.os)
	}
	if n := len(w.w.netAttempts["maintenance-2/1"]); n != 4 {
		t.Fatalf("%d attempts for four orders", n)
	}
}

// Hole 1 (facts boot policy 1.5): the installer's own restart finds the disk, with
// either policy; facts row 18: later restarts find it with rearm only.
func TestRestartsOfTheSystem(t *testing.T) {
	for _, r := range resource.OSReboots() {
		w := newWorld(t)
		w.m.restarts = true
		w.claim(1)
		w.policy(resource.BootHdd, r)
		w.until("the installer has restarted into the disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
		if rec := w.record(); rec.Unexpected != nil || rec.ProvisionedFor("claim-1", 1) == nil || w.w.ons != 1 {
			t.Fatalf("%s: %d power-ons, %s", r, w.w.ons, w.disk)
		}
		w.run(2 * resetQuiet)
		for n := range 3 {
			if armed := w.m.override.Armed(); armed != (r == resource.OSRebootRearm) || armed && w.m.override.Target != protocol.TargetHdd {
				t.Fatalf("%s: while it runs %+v is armed", r, w.m.override)
			}
			w.w.outside = r == resource.OSRebootSafeStop
			w.m.restart()
			w.run(15 * time.Minute)
			rec := w.record()
			if safe := r == resource.OSRebootSafeStop; w.m.os == safe || (rec.Unexpected != nil) != safe {
				t.Fatalf("%s: after restart %d the system runs %t, unexpected %+v", r, n, w.m.os, rec.Unexpected)
			}
			if r == resource.OSRebootSafeStop {
				break
			}
		}
		w.hold(resource.StopHard)
		w.until("held", func() bool { return len(w.record().Holds.Receipts) == 1 && w.record().Residue.Rearm() == nil })
		if w.m.override.Armed() {
			t.Fatalf("%s: %+v stays armed while it is Off", r, w.m.override)
		}
	}
}

// boot: Network boots from the network after each order, and never by itself.
func TestAlwaysFromTheNetwork(t *testing.T) {
	w := newWorld(t)
	w.m.live = true
	w.claim(2)
	w.policy(resource.BootNetwork, resource.OSRebootSafeStop)
	w.until("booted", w.booted)
	first := w.record().Attempt.ID
	w.m.off() // it shuts itself down
	w.run(time.Hour)
	if w.m.power != protocol.PowerOff || w.record().Attempt.ID != first || w.record().Unexpected == nil {
		t.Fatalf("machine %s, %s", w.m.power, w.disk)
	}
	w.hold(resource.StopSoft)
	w.until("held", func() bool { return len(w.record().Holds.Receipts) == 1 })
	w.release(0)
	w.until("booted again", func() bool { return w.booted() && w.record().Attempt.ID != first })
	if !w.record().Attempt.Network() || len(w.w.netAttempts["claim-1/1"]) != 2 {
		t.Fatalf("%s", w.disk)
	}
}

// A record on disk that has one provisioned record keeps it when another owner's comes.
func TestProvisionedOfOtherOwners(t *testing.T) {
	var r Record
	if err := json.Unmarshal([]byte(`{"server":"n1","shown":{"epoch":3},"owners":{"provisioned":{"ownerUID":"a","generation":1,"imageDigest":"sha256:1"}}}`), &r); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []string{"b", "c", "b"} {
		r.provision(resource.Provisioned{OwnerUID: uid, Generation: 1, ImageDigest: uid})
	}
	for uid, digest := range map[string]string{"a": "sha256:1", "b": "b", "c": "c"} {
		if p := r.ProvisionedFor(uid, 1); p == nil || p.ImageDigest != digest {
			t.Errorf("%s: %+v", uid, p)
		}
	}
	if r.ProvisionedFor("a", 2) != nil {
		t.Error("another generation")
	}
}

// A server that has many owners keeps the newest of what they have left, and all of an
// owner that has not let it go.
func TestForgetOwners(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	claim := provisionKey("claim", 1)
	r := Record{
		Owners: Owners{Used: map[string]GrantUse{claim: {Attempts: 1, Spent: true, At: at}}, Earlier: map[string]resource.Provisioned{claim: {OwnerUID: "claim", Generation: 1}}},
	}
	key := func(i int) string { return provisionKey(fmt.Sprintf("maintenance-%02d", i), 1) }
	for i := range 2 * maxOwners {
		r.Owners.Used[key(i)] = GrantUse{Attempts: 1, At: at.Add(time.Duration(i+1) * time.Hour)}
		r.Owners.Earlier[key(i)] = resource.Provisioned{At: at}
		r.forgetOwners(fmt.Sprintf("maintenance-%02d", i))
	}
	if len(r.Owners.Used) != maxOwners+1 || len(r.Owners.Earlier) != maxOwners+1 {
		t.Errorf("%d grants and %d records are kept", len(r.Owners.Used), len(r.Owners.Earlier))
	}
	if _, kept := r.Owners.Earlier[claim]; !kept || !r.Owners.Used[claim].Spent {
		t.Error("the claim's record went with its maintenances")
	}
	for i := range 2 * maxOwners {
		if _, kept := r.Owners.Used[key(i)]; kept != (i >= maxOwners) {
			t.Errorf("%s: kept %t", key(i), kept)
		}
	}
}

// A grant that is used stands, whatever travels while the BMC takes no override.
func TestGrantUsedStands(t *testing.T) {
	w := newWorld(t)
	w.claim(1)
	w.m.faults.RefuseArm = true
	w.run(30 * time.Second)
	w.forged = "another claim's"
	w.run(time.Minute)
	w.m.faults = faults{}
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
}
