package rack

import (
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestMainsUnderHold is V7 (docs/SOURCES.md) with a BMC that would power its server on
// when mains power returns: it does not while the server is held, and does again after
// the release (AMI's captured tree has the property).
func TestMainsUnderHold(t *testing.T) {
	t.Parallel()
	p, ok := bmcsim.Preset("RestoresLastState")
	if !ok {
		t.Fatal("no such preset")
	}
	p.Restore = bmcsim.RestoreAlwaysOn
	b := newBench(t, 1, p)
	b.calls.whole.Store(true)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	b.hold(a, "hold-1", resource.StopHard)
	first := b.receipt(b.until("a receipt that vouches for the restore policy", 0, func(r resource.ServerReport) bool {
		return fenced(r) && b.receipt(r).RestorePolicy == protocol.RestoreAlwaysOff
	}))
	n, cut := len(b.resets(0)), time.Now()
	if err := b.servers[0].BMC.PullPower(); err != nil {
		t.Fatal(err)
	}
	b.until("the BMC that does not answer", 0, func(r resource.ServerReport) bool {
		return r.Holds[0].State == resource.StateUnreachable && r.Holds[0].Word == resource.HoldFenced
	})
	if err := b.servers[0].BMC.RestorePower(); err != nil {
		t.Fatal(err)
	}
	r := b.until("the BMC that is back", 0, func(r resource.ServerReport) bool { return r.Holds[0].State == resource.StateFenced })
	// The receipt stands, unless the server could not be read for longer than it bears; the last read may have been
	// a poll before the cut. Then there is another.
	again := b.receipt(r)
	if unread := again.FirstRead.Sub(cut) + time.Second; again != first && unread < first.GapBound || len(b.resets(0)) != n {
		t.Errorf("receipt %+v after %+v, unread for %s, resets %v", again, first, unread, b.resets(0))
	}
	b.release(a)
	b.until("the disk boot after the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
	b.eventually("the policy from before", func() bool { return b.servers[0].BMC.Hosts()[0].RestorePolicy() == bmcsim.RestoreAlwaysOn })
	if err := b.servers[0].BMC.PullPower(); err != nil {
		t.Fatal(err)
	}
	if err := b.servers[0].BMC.RestorePower(); err != nil {
		t.Fatal(err)
	}
	if b.servers[0].BMC.PowerState() == protocol.PowerOff {
		t.Error("the server does not come on by the policy from before")
	}
}

// TestHoldsWithTerms: a hold whose time is over ends at the agent, with no hub to talk
// to, and a document that still names it does not bring it back.
func TestHoldsWithTerms(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	b.holds = append(b.holds, resource.ActiveHold{
		ID:       "hold-1",
		HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard, TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease}},
	})
	b.send(a)
	b.until("the receipt", 0, fenced)
	b.ahead.Add(int64(time.Hour - time.Minute))
	// For the agent it was not read for as long as that, and it is proved anew.
	b.until("another receipt a minute before its end", 0, func(r resource.ServerReport) bool {
		return fenced(r) && b.receipt(r).StoppedSince.After(time.Now().Add(30*time.Minute))
	})
	if r, _ := b.report(0); !fenced(r) || b.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Errorf("it ended a minute too early: %+v", r.Holds)
	}
	b.ahead.Add(int64(time.Minute))
	released := func(r resource.ServerReport) bool {
		return len(r.Holds) == 1 && r.Holds[0].Word == resource.HoldReleased && r.Holds[0].Released.By == "expiry" && diskBoot(r)
	}
	b.until("the disk boot after its time", 0, released)
	n := len(b.resets(0))
	b.send(a)
	version := b.version
	b.until("the same with the document", 0, func(r resource.ServerReport) bool {
		m, _ := b.newest()
		return released(r) && m.Applied[message.LeafHold].Version == version
	})
	b.holds = nil
	b.send(a)
	b.until("no hold", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })
	if len(b.resets(0)) != n {
		t.Errorf("resets %v", b.resets(0))
	}
}

// TestFirmwareWork: a hold waits for firmware work, visibly, and stops the server when
// the mark ends.
func TestFirmwareWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	n := len(b.resets(0))
	b.intents[0].Firmware = &resource.FirmwareWork{By: "ann", Reason: "BIOS", Since: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	b.send(a)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the condition", 0, func(r resource.ServerReport) bool {
		return has(resource.CondHoldBlocked)(r) && r.Holds[0].State == resource.StateStopping && r.Holds[0].Reason != ""
	})
	if got := b.resets(0); len(got) != n {
		t.Fatalf("resets %v", got)
	}
	b.intents[0].Firmware = nil
	b.send(a)
	b.until("the receipt", 0, fenced)
}
