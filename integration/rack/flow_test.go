package rack

import (
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func fenced(r resource.ServerReport) bool {
	return len(r.Holds) > 0 && r.Holds[0].Word == resource.HoldFenced
}

func diskBoot(r resource.ServerReport) bool {
	return r.Attempt != nil && r.Attempt.Intended == protocol.TargetHdd && r.Attempt.State == resource.AttemptSucceeded &&
		r.Observation.Power == protocol.PowerOn
}

// TestClaimToFence is the main job at the agent: a granted first boot over HTTP,
// provisioned by the installer's report, then boots from disk only, a reboot, a
// hold with its receipt, and the release.
func TestClaimToFence(t *testing.T) {
	b := newBench(t, 2, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	if len(r.Provisioned) == 0 {
		t.Fatal("not provisioned")
	}
	var p resource.Provisioned
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &p); err != nil {
		t.Fatal(err)
	}
	if p.ImageDigest != b.image.Digest || p.Evidence != protocol.EvidenceInstalled || p.OwnerUID != "claim-uid" {
		t.Errorf("provisioned says %+v", p)
	}
	if r.Image == nil || r.Image.State != protocol.ProbeInstalled || r.Image.Inventory == nil || r.Image.Inventory.Interfaces[0].MAC != b.servers[0].MAC {
		t.Errorf("of the image it says %+v", r.Image)
	}
	b.booted(0, 1, 1)
	if _, _, _, inst := b.servers[0].Boots.Counts(); inst != 1 {
		t.Errorf("%d installations", inst)
	}
	if uki, _ := b.image.Artefact(resource.ArtefactUKI); b.servers[0].Disk.Digest() != uki.Digest {
		t.Errorf("installed %s, the image's UKI is %s", b.servers[0].Disk.Digest(), uki.Digest)
	}
	if r2 := b.until("a read of the other server", 1, func(r resource.ServerReport) bool { return !r.Observation.ReadAt.IsZero() }); r2.Observation.Power != protocol.PowerOff || r2.Attempt != nil {
		t.Errorf("the other server was touched: %+v", r2)
	}

	epoch := r.PowerEpoch
	b.asks = []resource.Request{{ID: "reboot-1", Server: b.servers[0].Name, Action: resource.RequestReboot, Mode: resource.StopSoft, NotAfter: time.Now().Add(time.Minute)}}
	b.send(a)
	r = b.until("the reboot", 0, func(r resource.ServerReport) bool {
		return len(r.Requests) > 0 && r.Requests[0].Outcome == resource.OutcomeDone
	})
	if r.PowerEpoch != epoch+1 {
		t.Errorf("power epoch %d after one reboot of %d", r.PowerEpoch, epoch)
	}
	b.asks = nil
	b.until("the disk boot after the reboot", 0, diskBoot)

	b.holds = []resource.ActiveHold{{ID: "hold-1", HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard, Ref: "uid 7"}}}}
	b.send(a)
	r = b.until("the receipt", 0, fenced)
	var rc resource.Receipt
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactReceipt, r.Holds[0].Receipt, &rc); err != nil {
		t.Fatal(err)
	}
	if rc.HoldID != "hold-1" || rc.Ref != "uid 7" || rc.Reads < 2 || rc.ConfirmedAt.Sub(rc.StoppedSince) < 300*time.Millisecond || rc.StoppedSince.Before(rc.EnforcedAt) {
		t.Errorf("receipt %+v", rc)
	}
	if got := b.servers[0].BMC.PowerState(); got != protocol.PowerOff {
		t.Errorf("fenced, and the BMC says %s", got)
	}

	b.holds, b.frees = nil, []resource.Release{{HoldID: "hold-1", Server: b.servers[0].Name, By: "o", At: time.Now()}}
	b.send(a)
	b.until("the disk boot after the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
	b.booted(0, 1, 3)
}
